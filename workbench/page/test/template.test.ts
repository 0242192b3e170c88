import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PageTemplateSrv } from '../src/grafana/templateSrv';

const scoped = { host: { text: 'h', value: ['a.1', 'b'] }, nested: { text: '', value: { name: 'n' } } };

test('writes the values of variables into texts', () => {
  const templates = new PageTemplateSrv([{ name: 'topic', value: 'orders', options: [] }]);
  for (const [text, expected, format] of [
    ['$topic', 'orders'],
    ['${topic}-[[topic]].$topic', 'orders-orders.orders'],
    ['$topics and $', '$topics and $'],
    ['${topic:regex}', 'orders'],
    ['$host', '{a.1,b}'],
    ['${host:csv}', 'a.1,b'],
    ['[[host:pipe]]', 'a.1|b'],
    ['${host:json}', '["a.1","b"]'],
    ['$host', '(a\\.1|b)', 'regex'],
    ['${nested.name}', 'n'],
    ['', ''],
  ] as const) {
    assert.equal(templates.replace(text, scoped, format), expected, text);
  }
  assert.equal(templates.replace('$host', scoped, (value: string[]) => value.join('+')), 'a.1+b');
});

test('knows which texts name a variable', () => {
  const templates = new PageTemplateSrv([{ name: 'topic', value: 'orders', options: [] }]);
  for (const [text, expected] of [
    ['$topic', true],
    ['a ${topic:csv} b', true],
    ['[[topic]]', true],
    ['$other', false],
    ['topic', false],
  ] as const) {
    assert.equal(templates.containsTemplate(text), expected, text);
  }
});

test('emits only what is chosen and offered', () => {
  const templates = new PageTemplateSrv([{ name: 'topic', value: 'orders', options: [] }]);
  templates.offer('topic', ['orders', 'logs']);
  templates.choose('topic', 'logs');
  templates.choose('other', 'x');
  assert.deepEqual(templates.variables.value, [{ name: 'topic', value: 'logs', options: ['orders', 'logs'] }]);
});

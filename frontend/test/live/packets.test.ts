/** What a stream can bring: no column loses its history, no row that arrived is lost, none shows twice. */
import { FieldType } from '@grafana/data';

import { pass } from '../host/page';
import { packet, records } from '../host/packets';
import { LATEST, page, texts } from './setup';

describe('what a stream can bring', () => {
  it('a schema that grows and comes shorter', async () => {
    const grafana = page(LATEST);
    const panel = await grafana.panel([{}]);
    const row = (offset: number, ...more: Parameters<typeof packet>[0]) =>
      packet([['time', 'time', [offset]], ['partition', 'number', [0]], ['offset', 'number', [offset]], ...more]);
    await grafana.stream(
      'p',
      row(1, ['a', 'number', [1]], ['c', 'string', ['x']]),
      row(2, ['a', 'number', [2]], ['b', 'boolean', [true]], ['c', 'string', ['y']], ['_error', 'string', [null]]),
      row(3, ['c', 'string', ['z']]),
      row(4, ['d', 'number', [4]])
    );
    expect(panel.names()).toEqual(['time', 'partition', 'offset', 'd', 'a', 'b', 'c', 'v', '_error']);
    expect(panel.values('a')).toEqual([1, 2, null, null]);
    expect(panel.values('b')).toEqual([null, true, null, null]);
    expect(panel.values('c')).toEqual(['x', 'y', 'z', null]);
    expect(panel.values('d')).toEqual([null, null, null, 4]);
    expect(panel.frame().fields.every(({ values }) => values.length === 4)).toBe(true);
  });

  it('a record from the future', async () => {
    const grafana = page(LATEST);
    const panel = await grafana.panel([{}]);
    const future = (Date.now() + 3_600_000) / 1000;
    await grafana.stream('p', records([1, 2]), records([future]), records([future + 1]));
    expect(panel.values('v')).toHaveLength(4);
  });

  it('not-a-number and the infinities', async () => {
    const grafana = page(LATEST);
    const panel = await grafana.panel([{}]);
    const values = [NaN, Infinity, 1, -Infinity, null];
    await grafana.stream('p', packet([['time', 'time', [1, 2, 3, 4, 5]], ['v', 'number', values]]));
    expect(panel.values('v')).toEqual(values);
  });

  it('a malformed record among good ones', async () => {
    const grafana = page(LATEST);
    const panel = await grafana.panel([{}]);
    const bad = packet([
      ['time', 'time', [2000]],
      ['partition', 'number', [0]],
      ['offset', 'number', [2]],
      ['_error', 'string', ['expected a value at 1:1']],
    ]);
    await grafana.stream('p', records([1]), bad, records([3]));
    expect(panel.values('offset')).toEqual([1, 2, 3]);
    expect(panel.values('v')).toEqual([10, null, 30]);
    expect(panel.values('_error')).toEqual([null, 'expected a value at 1:1', null]);
  });

  it('partitions that overtake each other: the frame is in time order, rows of one time as they came', async () => {
    const grafana = page(LATEST);
    const panel = await grafana.panel([{}]);
    await grafana.stream('p', records([5, 6]), records([1, 5], { partition: 1 }), records([7]));
    expect(panel.values('time')).toEqual([1000, 5000, 5000, 6000, 7000]);
    expect(panel.values('partition')).toEqual([1, 0, 1, 0, 0]);
  });

  it('the rows of one record, which share an offset', async () => {
    const grafana = page(LATEST);
    const panel = await grafana.panel([{}]);
    await grafana.stream('p', records([4, 4, 4]), records([4, 5]));
    expect(panel.values('offset')).toEqual([4, 4, 4, 5]);
  });

  it('a topic that was made anew: its offsets start over', async () => {
    const grafana = page(LATEST);
    const panel = await grafana.panel([{}]);
    const made = { severity: 'warning' as const, text: 'the topic was created anew' };
    await grafana.stream('p', records([7, 8]), records([0, 1], { topicId: 'T2', notices: [made] }));
    expect(panel.values('offset').sort()).toEqual([0, 1, 7, 8]);
    expect(texts(panel)).toContain('created anew');
  });

  it('something that is no frame', async () => {
    const grafana = page(LATEST);
    const panel = await grafana.panel([{}]);
    await grafana.stream('p', 'x', {}, { schema: {} }, records([1]));
    expect(panel.values('v')).toEqual([10]);
  });

  it('notices, of which only the last stays where they differ in numbers', async () => {
    const grafana = page(LATEST);
    const panel = await grafana.panel([{}]);
    const said = (text: string) => ({ notices: [{ severity: 'warning' as const, text }] });
    await grafana.stream('p', records([1], said('3 records passed over')), records([2], said('17 records passed over')));
    grafana.live.publish('p', records([], said('the broker is gone')));
    await pass(200);
    expect(panel.notices.map(({ text }) => text)).toEqual(['17 records passed over', 'the broker is gone']);
  });

  it('another type for a column, after the process was restarted', async () => {
    const grafana = page(LATEST);
    const panel = await grafana.panel([{}]);
    const typed = (offset: number, number: unknown, text: unknown, swap = false) =>
      packet([
        ['time', 'time', [offset]],
        ['partition', 'number', [0]],
        ['offset', 'number', [offset]],
        ['n', swap ? 'string' : 'number', [number]],
        ['t', swap ? 'number' : 'string', [text]],
      ]);
    await grafana.stream('p', typed(1, 1, 'a'), typed(2, 'b', 2, true), typed(3, 3, 'c'));
    expect(panel.values('n')).toEqual([1, null, 3]);
    expect(panel.values('t')).toEqual(['a', '2', 'c']);
    expect(panel.frame().fields.find(({ name }) => name === 'n')?.type).toBe(FieldType.number);
    expect(texts(panel)).toContain('1 values of n are left empty');
  });
});

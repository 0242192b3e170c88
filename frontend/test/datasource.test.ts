import { CoreApp } from '@grafana/data';
import { setBackendSrv } from '@grafana/runtime';
import { firstValueFrom, type Observable, of, throwError } from 'rxjs';

import { type KafkaQuery } from '../src/types';
import { TopicVariables } from '../src/variables';
import { Page } from './host/page';

const variables = { t: 'orders', p: '3', n: '25', x: 'temp', env: 'prod', type: 'text', empty: '' };
const { datasource } = new Page('plain', () => ({}), variables);

describe('template variables', () => {
  it.each<[Partial<KafkaQuery>, Partial<KafkaQuery>]>([
    [{ topicName: ' $t ' }, { topicName: 'orders' }],
    [{ topicName: '${t}-$env' }, { topicName: 'orders-prod' }],
    [{ topicName: 'a', partition: '$p' }, { topicName: 'a', partition: 3 }],
    [{ topicName: 'a', partition: '0' }, { topicName: 'a', partition: 0 }],
    [{ topicName: 'a', partition: 'all' }, { topicName: 'a', partition: 'all' }],
    [{ topicName: 'a', partition: '$t' }, { topicName: 'a', partition: 'orders' }],
    [{ topicName: 'a', partition: 2 }, { topicName: 'a', partition: 2 }],
    [{ topicName: 'a', lastN: '$n' }, { topicName: 'a', lastN: 25 }],
    [{ topicName: 'a', alias: '$x {{field}}' }, { topicName: 'a', alias: 'temp {{field}}' }],
    [{ topicName: 'a', fieldTypes: { '$x.id': 'text' } }, { topicName: 'a', fieldTypes: { 'temp.id': 'text' } }],
    [
      { topicName: 'a', timeField: '$x', subject: '$t-value', protobufMessage: '$x.M', keyProtobufMessage: '$x.K' },
      { topicName: 'a', timeField: 'temp', subject: 'orders-value', protobufMessage: 'temp.M', keyProtobufMessage: 'temp.K' },
    ],
    [
      { topicName: 'a', avroSchema: '$x', protobufSchema: '$x', avroReaderSchema: '$x', keySchema: '$x' },
      { topicName: 'a', avroSchema: 'temp', protobufSchema: 'temp', avroReaderSchema: 'temp', keySchema: 'temp' },
    ],
    [
      { topicName: 'a', lineProtocolMeasurements: '$x', lineProtocolFields: '$x', lineProtocolTags: 'host=$x' },
      { topicName: 'a', lineProtocolMeasurements: 'temp', lineProtocolFields: 'temp', lineProtocolTags: 'host=temp' },
    ],
  ])('%j', (query, filled) => {
    expect(datasource.applyTemplateVariables({ refId: 'A', ...query } as KafkaQuery, {})).toEqual({ refId: 'A', ...filled });
  });

  it('do not keep a query from being asked', () => {
    const query = { refId: 'A', topicName: '$t', partition: '$p' };
    expect(datasource.filterQuery(query)).toBe(true);
    expect(datasource.filterQuery({ ...query, topicName: '' })).toBe(false);
  });
});

describe('a query', () => {
  it('that is new begins with auto; one that was saved without the key is left as it is', () => {
    expect(datasource.getDefaultQuery(CoreApp.Dashboard)).toMatchObject({ recordColumns: 'auto', partition: 'all' });
    const saved = { refId: 'A', topicName: 'a', partition: 'all' as const, autoOffsetReset: 'latest' as const };
    expect(datasource.applyTemplateVariables(saved, {})).toEqual(saved);
  });
});

describe('resources', () => {
  const requests: Array<{ url: string; params: unknown; showErrorAlert?: boolean }> = [];

  const backend = (answer: () => Observable<unknown>) =>
    setBackendSrv({
      fetch: (request: (typeof requests)[number]) => {
        requests.push(request);
        return answer();
      },
    } as never);

  beforeEach(() => {
    requests.length = 0;
  });

  it('topics', async () => {
    backend(() => of({ data: { topics: ['a', 'b'], prefix: 'x', limit: 5 } }));
    expect(await datasource.topics({ search: 'x', limit: 5, internal: true })).toEqual(['a', 'b']);
    expect(requests).toMatchObject([
      { url: expect.stringMatching(/\/resources\/topics$/), params: { search: 'x', limit: 5, internal: true }, showErrorAlert: false },
    ]);
    backend(() => of({ data: { topics: null, prefix: '', limit: 5 } }));
    expect(await datasource.topics()).toEqual([]);
  });

  it('partitions, of a topic that may be a variable', async () => {
    backend(() => of({ data: { partitions: [0, 1], topic: 'orders' } }));
    expect(await datasource.partitions('$t')).toEqual([0, 1]);
    expect(requests).toMatchObject([{ params: { topic: 'orders' } }]);
  });

  it('topics as the values of a variable', async () => {
    backend(() => of({ data: { topics: ['a', 'b'], prefix: '', limit: 1000 } }));
    expect(datasource.variables).toBeInstanceOf(TopicVariables);
    const targets = [{ refId: 'topics', search: '$x' }];
    const { data } = await firstValueFrom(new TopicVariables(datasource).query({ targets, scopedVars: {} } as never));
    expect(data).toEqual([{ text: 'a' }, { text: 'b' }]);
    expect(requests).toMatchObject([{ params: { search: 'temp' } }]);
  });

  it.each([
    [{ status: 404, statusText: 'Not Found', data: { error: 'topic x not found' } }, 'topic x not found'],
    [{ status: 502, statusText: 'Bad Gateway', data: { message: 'plugin unavailable' } }, 'plugin unavailable'],
    [{ status: 502, statusText: 'Bad Gateway', data: '<html>' }, 'Bad Gateway'],
    [{ status: 0, data: {} }, 'Grafana answered with status 0'],
    [new Error('offline'), 'offline'],
    ['odd', 'odd'],
  ])('errors are in words: %j', async (error, text) => {
    backend(() => throwError(() => error));
    await expect(datasource.partitions('x')).rejects.toThrow(text);
  });
});

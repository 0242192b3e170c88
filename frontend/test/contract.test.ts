/** Queries and settings as both sides know them: the process reads the same files in its own tests. */
import { type DataSourceJsonData } from '@grafana/data';

import queries from '../../tests/contract/queries.json';
import settings from '../../tests/contract/settings.json';
import { interpolate } from '../src/interpolate';
import { type KafkaOptions, type KafkaQuery, type KafkaSecrets } from '../src/types';
import { Page } from './host/page';

type Json = Record<string, unknown>;

describe('queries', () => {
  const { datasource } = new Page('contract', () => ({}));

  it.each(queries as Array<{ name: string; query: Json; data?: Json }>)('$name', ({ query, data }) => {
    const filled = interpolate(query as never, (text) => text) as unknown as Json;
    // Whole numbers that were text are numbers now; nothing else is touched.
    const numbers = Object.fromEntries(
      (['partition', 'lastN'] as const).flatMap((key) => (data && typeof query[key] === 'string' ? [[key, data[key]]] : []))
    );
    expect(filled).toEqual({ ...query, ...numbers });
    expect(datasource.filterQuery(query as never)).toBe('topicName' in query);

    const known = [...Object.keys(QUERY), ...Object.keys(OF_THE_STREAM)];
    expect(Object.keys({ ...query, ...data }).filter((key) => !known.includes(key))).toEqual([]);
  });
});

describe('settings', () => {
  const keys = (of: 'jsonData' | 'secureJsonData') => new Set(settings.flatMap((one) => Object.keys(one[of])));

  it('have no key that the front end does not know', () => {
    expect([...keys('jsonData')].filter((key) => !(key in OPTIONS) && !MISSPELT.includes(key))).toEqual([]);
    expect([...keys('secureJsonData')].filter((key) => !(key in SECRETS))).toEqual([]);
  });

  it('have every key that the editor writes', () => {
    expect(Object.keys(OPTIONS).filter((key) => !keys('jsonData').has(key))).toEqual([]);
  });
});

/** One key the type lacks, or has beyond these, and it does not compile. */
const QUERY: Record<keyof KafkaQuery, true> = {
  refId: true,
  hide: true,
  key: true,
  queryType: true,
  datasource: true,
  topicName: true,
  partition: true,
  autoOffsetReset: true,
  lastN: true,
  timestampMode: true,
  messageFormat: true,
  avroSchemaSource: true,
  avroSchema: true,
  protobufSchemaSource: true,
  protobufSchema: true,
  keyFormat: true,
  lineProtocolTimestampPrecision: true,
  lineProtocolMeasurements: true,
  lineProtocolFields: true,
  lineProtocolTags: true,
  alias: true,
  recordColumns: true,
  headers: true,
  fieldTypes: true,
  timeField: true,
  timeUnit: true,
  pacing: true,
  everyRecord: true,
  isolationLevel: true,
  framing: true,
  subjectStrategy: true,
  subject: true,
  avroReaderSchema: true,
  protobufMessage: true,
  bytesAs: true,
  keySchemaSource: true,
  keySchema: true,
  keyProtobufMessage: true,
  lineProtocolLayout: true,
  resumeAt: true,
};

const OF_THE_STREAM = { cursor: true, nonce: true };

const OPTIONS: Record<Exclude<keyof KafkaOptions, keyof DataSourceJsonData>, true> = {
  bootstrapServers: true,
  clientId: true,
  groupId: true,
  securityProtocol: true,
  saslMechanisms: true,
  saslUsername: true,
  logLevel: true,
  healthcheckTimeout: true,
  timeout: true,
  tlsAuthWithCACert: true,
  tlsAuth: true,
  tlsSkipVerify: true,
  serverName: true,
  schemaRegistryUrl: true,
  schemaRegistryType: true,
  schemaRegistryAuth: true,
  schemaRegistryOAuthTokenUrl: true,
  schemaRegistryOAuthClientId: true,
  schemaRegistryOAuthScope: true,
  schemaRegistryServerName: true,
  schemaRegistryTlsSkipVerify: true,
  schemaRegistryTimeout: true,
  schemaRegistryUsername: true,
  flattenMaxDepth: true,
  flattenFieldCap: true,
  messageFormat: true,
  topicAllow: true,
  topicDeny: true,
  liveSlotKiB: true,
  metadataInterval: true,
};

const SECRETS: Record<keyof KafkaSecrets, true> = {
  saslPassword: true,
  tlsCACert: true,
  tlsClientCert: true,
  tlsClientKey: true,
  schemaRegistryPassword: true,
  schemaRegistryUsername: true,
  schemaRegistryToken: true,
  schemaRegistryOAuthClientSecret: true,
  schemaRegistryTlsCACert: true,
  schemaRegistryTlsClientCert: true,
  schemaRegistryTlsClientKey: true,
};

/** Settings that nobody has, which the process is to name. */
const MISSPELT = ['topicAlow'];

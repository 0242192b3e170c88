/**
 * The shapes that are saved in dashboards and in provisioning files, and those that the process answers with.
 * `tests/contract` holds examples that the process reads too.
 */
import { type DataSourceJsonData } from '@grafana/data';
import { type DataQuery } from '@grafana/schema';

/** A number that a dashboard may also hold as text, for a template variable such as `$n`. */
export type NumberOrVariable = number | string;

export type StartMode = 'latest' | 'earliest' | 'lastN';
export type TimestampMode = 'message' | 'now';
export type MessageFormat = 'json' | 'avro' | 'protobuf' | 'plaintext' | 'lineprotocol';
/** The formats whose records need a schema. */
export type SchemaFormat = 'avro' | 'protobuf';
export type SchemaSource = 'schemaRegistry' | 'inlineSchema';
export type KeyFormat = 'none' | 'string' | 'json' | 'base64' | 'avro' | 'protobuf';
export type LineProtocolPrecision = 'auto' | 'ns' | 'us' | 'ms' | 's';
export type LineProtocolLayout = 'long' | 'wide';
export type RecordColumns = 'auto' | 'always' | 'never';
export type FieldTypeName = 'number' | 'text' | 'boolean' | 'time';
export type TimeUnit = 'auto' | 's' | 'ms' | 'us' | 'ns' | 'rfc3339';
export type IsolationLevel = 'readCommitted' | 'readUncommitted';
export type Framing = 'auto' | 'none' | 'confluent' | 'confluentHeader' | 'apicurio' | 'glue';
export type SubjectStrategy = 'topic' | 'record' | 'topicRecord' | 'explicit';
export type BytesAs = 'base64' | 'text' | 'hex';

/** One query of a panel. A key that is absent has the default that stands beside it. */
export interface KafkaQuery extends DataQuery {
  topicName: string;
  /** A partition number, `all`, or text with a template variable. `all`. */
  partition?: NumberOrVariable;
  /** `latest` */
  autoOffsetReset?: StartMode;
  /** How many records of each partition, with `lastN`: 1 to 1,000,000. 100 */
  lastN?: NumberOrVariable;
  /** The record's own timestamp, or the moment it arrives. `message` */
  timestampMode?: TimestampMode;
  /** `json` */
  messageFormat?: MessageFormat;
  /** `schemaRegistry` */
  avroSchemaSource?: SchemaSource;
  avroSchema?: string;
  /** `schemaRegistry` */
  protobufSchemaSource?: SchemaSource;
  protobufSchema?: string;
  /** `none` */
  keyFormat?: KeyFormat;
  /** `auto` */
  lineProtocolTimestampPrecision?: LineProtocolPrecision;
  lineProtocolMeasurements?: string;
  lineProtocolFields?: string;
  lineProtocolTags?: string;
  alias?: string;

  /** Whether `partition` and `offset` are shown. `always`; new queries are made with `auto`. */
  recordColumns?: RecordColumns;
  /** One text column a header. false */
  headers?: boolean;
  /** Column name to the type it has, whatever the records hold. */
  fieldTypes?: Record<string, FieldTypeName>;
  /** The field of the payload that holds the time, and its unit. */
  timeField?: string;
  /** `auto` */
  timeUnit?: TimeUnit;
  /** The channel's budget. true */
  pacing?: boolean;
  /** A `latest` stream that never skips. false */
  everyRecord?: boolean;
  /** `readCommitted` */
  isolationLevel?: IsolationLevel;
  /** `auto` */
  framing?: Framing;
  /** `topic` */
  subjectStrategy?: SubjectStrategy;
  subject?: string;
  avroReaderSchema?: string;
  protobufMessage?: string;
  /** `base64` */
  bytesAs?: BytesAs;
  /** `schemaRegistry` */
  keySchemaSource?: SchemaSource;
  keySchema?: string;
  keyProtobufMessage?: string;
  /** `long` */
  lineProtocolLayout?: LineProtocolLayout;

  /** Where a cut-off stream goes on. Set by a session when it asks again, and never saved. */
  resumeAt?: Cursor;
}

/** The next offset of each partition of one topic. */
export interface Cursor {
  topicId?: string;
  next: Record<string, number>;
}

/** What a variable asks for. */
export interface TopicVariableQuery extends DataQuery {
  /** What the topic's name has to contain, whatever the case; empty for all. */
  search?: string;
  /** How many at most. 1000 */
  limit?: number;
  /** With the topics that Kafka keeps for itself. false */
  internal?: boolean;
}

export type SecurityProtocol = 'PLAINTEXT' | 'SSL' | 'SASL_PLAINTEXT' | 'SASL_SSL';
export type SaslMechanism = 'PLAIN' | 'SCRAM-SHA-256' | 'SCRAM-SHA-512';

export type RegistryType = 'confluent' | 'apicurio';
export type RegistryAuth = 'none' | 'basic' | 'bearer' | 'oauth';

/** The settings of a data source that are no secret. */
export interface KafkaOptions extends DataSourceJsonData {
  bootstrapServers?: string;
  clientId?: string;
  groupId?: string;
  securityProtocol?: SecurityProtocol;
  saslMechanisms?: SaslMechanism | '';
  saslUsername?: string;
  logLevel?: string;
  healthcheckTimeout?: number;
  timeout?: number;
  tlsAuthWithCACert?: boolean;
  tlsAuth?: boolean;
  tlsSkipVerify?: boolean;
  serverName?: string;
  /** One address of a schema registry, or several with commas between them. */
  schemaRegistryUrl?: string;
  /** Which API the registry has. `confluent` */
  schemaRegistryType?: RegistryType;
  /** How the registry is logged in to. `basic` where user and password are set, else `none` */
  schemaRegistryAuth?: RegistryAuth;
  schemaRegistryUsername?: string;
  schemaRegistryOAuthTokenUrl?: string;
  schemaRegistryOAuthClientId?: string;
  schemaRegistryOAuthScope?: string;
  schemaRegistryServerName?: string;
  schemaRegistryTlsSkipVerify?: boolean;
  /** In milliseconds. 5,000 */
  schemaRegistryTimeout?: number;
  flattenMaxDepth?: number;
  flattenFieldCap?: number;
  /** The peer's old place for what each query now says. */
  messageFormat?: MessageFormat;
  /** What all live panels may send in a tenth of a second, in KiB. 512 */
  liveSlotKiB?: number;
  /** How often new partitions are looked for, in milliseconds. 30,000 */
  metadataInterval?: number;
  /** Globs, as a list or separated by commas: which topics can be read at all, and which not. */
  topicAllow?: string | string[];
  topicDeny?: string | string[];
}

/** The settings that Grafana keeps encrypted. */
export interface KafkaSecrets {
  saslPassword?: string;
  tlsCACert?: string;
  tlsClientCert?: string;
  tlsClientKey?: string;
  schemaRegistryPassword?: string;
  schemaRegistryUsername?: string;
  schemaRegistryToken?: string;
  schemaRegistryOAuthClientSecret?: string;
  schemaRegistryTlsCACert?: string;
  schemaRegistryTlsClientCert?: string;
  schemaRegistryTlsClientKey?: string;
}

/** The answer to `topics`. */
export interface TopicsAnswer {
  topics: string[] | null;
  prefix: string;
  limit: number;
}

/** The answer to `partitions`, in ascending order. */
export interface PartitionsAnswer {
  partitions: number[];
  topic: string;
}

/** The answer to the calls that validate; one that is no success comes with status 400. */
export interface ValidationAnswer {
  message: string;
}

/** The answer to `detect`: what the last records of a topic look like. */
export interface DetectAnswer {
  topic: string;
  /** How many records were looked at. */
  records: number;
  /** Absent where nothing fits. */
  value?: Proposal | null;
  key?: Proposal | null;
  /** What the first rows of the proposal would be, each cell as text. */
  rows?: { columns: string[]; rows: Array<Array<string | null>> } | null;
  /** The first bytes of some values, where nothing fits them. */
  hex?: string[] | null;
}

/** A format that fits, and why. */
export interface Proposal {
  format: string;
  /** The keys of a query that read the records this way. */
  query: Partial<KafkaQuery>;
  why: string;
  alternatives?: Proposal[] | null;
}

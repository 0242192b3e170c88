import { type SelectableValue } from '@grafana/data';
import React from 'react';

import { type DataSource } from '../../datasource';
import { type BytesAs, type Framing, type KafkaQuery, type SchemaSource, type SubjectStrategy } from '../../types';
import { useAsk } from '../parts/ask';
import { Choice } from '../parts/Choice';
import { text } from '../parts/lenient';
import { OptionGroup } from '../parts/OptionGroup';
import { SchemaField } from '../parts/SchemaField';
import { TextField } from '../parts/TextField';
import { type GroupProps } from './edit';

const FRAMINGS: Array<SelectableValue<Framing>> = [
  { label: 'Automatic', value: 'auto', description: 'What each record shows' },
  { label: 'None', value: 'none', description: 'Nothing stands before the value' },
  { label: 'Confluent', value: 'confluent', description: 'A zero byte and a 4-byte id before the value' },
  { label: 'Confluent header', value: 'confluentHeader', description: 'The id in a header, __value_schema_id' },
  { label: 'Apicurio', value: 'apicurio', description: 'A zero byte and an 8-byte id, or an id in a header' },
  { label: 'AWS Glue', value: 'glue', description: '18 bytes before the value; with an inline schema' },
];
const STRATEGIES: Array<SelectableValue<SubjectStrategy>> = [
  { label: 'Topic', value: 'topic', description: '<topic>-value, and <topic>-key' },
  { label: 'Record', value: 'record', description: 'The full name of the record' },
  { label: 'Topic and record', value: 'topicRecord', description: '<topic>-<full name of the record>' },
  { label: 'Explicit', value: 'explicit', description: 'The subject that you write' },
];
const BYTES: Array<SelectableValue<BytesAs>> = [
  { label: 'Base64', value: 'base64' },
  { label: 'Text', value: 'text', description: 'As UTF-8' },
  { label: 'Hex', value: 'hex', description: '0a1b2c' },
];

interface Props extends GroupProps {
  datasource: DataSource;
}

/** What only few topics with a schema need. */
export function SchemaOptions({ query, edit, datasource }: Props) {
  const reader = text(query.avroReaderSchema);
  const check = useAsk(reader, () => datasource.validateSchema('avro', reader));
  return (
    <OptionGroup title="Schema options" summary={schemaSummary(query)}>
      {schemaOfValue(query) !== undefined && <Naming query={query} edit={edit} />}
      <Choice<BytesAs>
        label="Bytes as"
        help="How fields that hold bytes are shown."
        value={query.bytesAs ?? 'base64'}
        options={BYTES}
        onCommit={(bytesAs) => edit({ bytesAs })}
        width={14}
      />
      {query.messageFormat === 'avro' && (
        <SchemaField
          label="Reader schema"
          help="An Avro schema to read the records as, by Avro’s rules of schema evolution: it renames, leaves out, widens and fills in fields. Empty shows each record as it was written."
          format="avro"
          value={reader}
          onCommit={(schema) => edit({ avroReaderSchema: schema === '' ? undefined : schema })}
          check={check}
        />
      )}
    </OptionGroup>
  );
}

/** How a record names its schema, or where the schema of one that names none is found. */
function Naming({ query, edit }: GroupProps) {
  const registry = schemaOfValue(query) === 'schemaRegistry';
  const framing = query.framing ?? 'auto';
  const strategy = query.subjectStrategy ?? 'topic';
  const explicit = strategy === 'explicit';
  return (
    <>
      <Choice<Framing>
        label="Framing"
        help="How a value says which schema it was written with. Automatic finds out by itself; choose another only where records are read wrongly."
        value={framing}
        options={FRAMINGS}
        error={registry && framing === 'glue' ? 'AWS Glue’s framing needs an inline schema' : undefined}
        onCommit={(framing) => edit({ framing })}
        width={22}
      />
      {registry && (
        <Choice<SubjectStrategy>
          label="Subject"
          help="Under which name the registry keeps the schema of values that carry no schema id. Those with an id need none of this."
          value={strategy}
          options={STRATEGIES}
          onCommit={(subjectStrategy) =>
            edit({ subjectStrategy, subject: subjectStrategy === 'topic' ? undefined : query.subject })
          }
          width={22}
        />
      )}
      {registry && strategy !== 'topic' && (
        <TextField
          label={explicit ? 'Subject name' : 'Record name'}
          help={
            explicit
              ? 'The subject as the registry lists it. Its latest version is used.'
              : 'The full name of the record, such as acme.Reading, which is part of the subject’s name. Empty takes it from the reader schema or the message type, if there is one.'
          }
          value={text(query.subject)}
          onCommit={(subject) => edit({ subject: subject === '' ? undefined : subject })}
          placeholder={explicit ? 'orders-value' : 'acme.Reading'}
          width={28}
        />
      )}
    </>
  );
}

/** Where the schema of the values comes from, if they have one. */
function schemaOfValue({ messageFormat, avroSchemaSource, protobufSchemaSource }: KafkaQuery): SchemaSource | undefined {
  switch (messageFormat) {
    case 'avro':
      return avroSchemaSource ?? 'schemaRegistry';
    case 'protobuf':
      return protobufSchemaSource ?? 'schemaRegistry';
    default:
      return undefined;
  }
}

/** Says what a query has set among these options. */
function schemaSummary(query: KafkaQuery): string[] {
  const { framing = 'auto', subjectStrategy = 'topic', subject, bytesAs = 'base64', avroReaderSchema } = query;
  const source = schemaOfValue(query);
  return [
    framing === 'auto' || source === undefined ? '' : `framing ${label(FRAMINGS, framing)}`,
    subjectStrategy === 'topic' || source !== 'schemaRegistry' ? '' : `subject ${subject ?? label(STRATEGIES, subjectStrategy)}`,
    bytesAs === 'base64' ? '' : `bytes as ${label(BYTES, bytesAs)}`,
    avroReaderSchema && query.messageFormat === 'avro' ? 'reader schema' : '',
  ].filter((text) => text !== '');
}

function label<T extends string>(options: Array<SelectableValue<T>>, of: T): string {
  return options.find(({ value }) => value === of)?.label?.toLowerCase() ?? of;
}

import { type SelectableValue } from '@grafana/data';
import { Button } from '@grafana/ui';
import React from 'react';

import { type DataSource } from '../../datasource';
import { tooLarge } from '../../live/limit';
import { type SchemaFormat, type SchemaSource } from '../../types';
import { useAsk } from '../parts/ask';
import { Choice } from '../parts/Choice';
import { text } from '../parts/lenient';
import { SchemaField } from '../parts/SchemaField';
import { TextField } from '../parts/TextField';
import { type GroupProps } from './edit';

const SOURCES: Array<SelectableValue<SchemaSource>> = [
  { label: 'Schema registry', value: 'schemaRegistry', description: 'By the id in each record, whatever its version' },
  { label: 'Inline schema', value: 'inlineSchema', description: 'Written here, the same for every record' },
];

/** The keys of a query that hold the schema of the value or of the key. */
const KEYS = {
  value: {
    avro: { source: 'avroSchemaSource', schema: 'avroSchema', message: 'protobufMessage' },
    protobuf: { source: 'protobufSchemaSource', schema: 'protobufSchema', message: 'protobufMessage' },
  },
  key: {
    avro: { source: 'keySchemaSource', schema: 'keySchema', message: 'keyProtobufMessage' },
    protobuf: { source: 'keySchemaSource', schema: 'keySchema', message: 'keyProtobufMessage' },
  },
} as const;

interface Props extends GroupProps {
  /** Which part of the record the schema is of. */
  of: 'value' | 'key';
  format: SchemaFormat;
  datasource: DataSource;
}

/** Where the schema of the value or of the key comes from. */
export function Schema({ of, format, query, edit, datasource }: Props) {
  const keys = KEYS[of][format];
  const source = query[keys.source] ?? 'schemaRegistry';
  const schema = text(query[keys.schema]);
  const registry = useAsk(source, () => datasource.validateRegistry());
  const check = useAsk(`${format} ${schema}`, () => datasource.validateSchema(format, schema));
  const named = (label: string) => (of === 'key' ? `Key ${label}` : `${label.charAt(0).toUpperCase()}${label.slice(1)}`);
  const inline = source === 'inlineSchema';

  return (
    <>
      <Choice<SchemaSource>
        label={named('schema source')}
        help={`Whether the schema of the ${of}s is fetched from the schema registry of this data source or written here. The registry reads records of every version; an inline schema reads those that were written with it.`}
        value={source}
        options={SOURCES}
        note={inline || datasource.hasRegistry ? undefined : NO_REGISTRY}
        success={registry.answer}
        error={registry.error}
        beside={
          !inline && (
            <Button type="button" variant="secondary" disabled={registry.running} onClick={registry.run}>
              Test
            </Button>
          )
        }
        onCommit={(chosen) => edit({ [keys.source]: chosen })}
        width={20}
      />
      {format === 'protobuf' && (
        <TextField
          label={named('message type')}
          help="The full name of the message that the records hold, such as acme.Reading. Empty takes the one that each record names, or else the first of the schema."
          value={text(query[keys.message])}
          onCommit={(message) => edit({ [keys.message]: message === '' ? undefined : message })}
          placeholder="The record’s, or the first"
          width={28}
        />
      )}
      {inline && (
        <SchemaField
          label={named('schema')}
          help={HELP[format]}
          format={format}
          value={schema}
          onCommit={(written) => edit({ [keys.schema]: written === '' ? undefined : written })}
          check={check}
          note={sizeNote(tooLarge(query))}
        />
      )}
    </>
  );
}

const NO_REGISTRY =
  'The settings of this data source name no schema registry: add one there, or choose an inline schema.';

const HELP: Record<SchemaFormat, string> = {
  avro: 'The Avro schema that the records were written with, as JSON. It is read when you leave the field; Escape takes your changes back.',
  protobuf:
    'The Protobuf schema as the text of a .proto file. It may import the google.protobuf types; other imports need a schema registry. It is read when you leave the field; Escape takes your changes back.',
};

function sizeNote(problem: string | undefined): string | undefined {
  return problem && `For live rows ${problem}`;
}

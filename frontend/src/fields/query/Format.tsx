import { type SelectableValue } from '@grafana/data';
import React from 'react';

import { type KeyFormat, type MessageFormat } from '../../types';
import { Choice } from '../parts/Choice';
import { flag } from '../parts/lenient';
import { Toggle } from '../parts/Toggle';
import { type GroupProps } from './edit';

const FORMATS: Array<SelectableValue<MessageFormat>> = [
  { label: 'JSON', value: 'json', description: 'One column a field; nested fields become a.b.c' },
  { label: 'Plain text', value: 'plaintext', description: 'The whole value in one column' },
];
const KEYS: Array<SelectableValue<KeyFormat>> = [
  { label: 'Not shown', value: 'none' },
  { label: 'Text', value: 'string', description: 'One column, key' },
  { label: 'JSON', value: 'json', description: 'One column a field of the key, key.a.b' },
  { label: 'Base64', value: 'base64', description: 'One column, for keys that are no text' },
];
/** What saved queries may hold that this version does not read. */
const NOT_YET: Record<string, string> = { avro: 'Avro', protobuf: 'Protobuf', lineprotocol: 'Line protocol' };

/** How the value, the key and the headers of a record become columns. */
export function Format({ query, edit }: GroupProps) {
  const format = query.messageFormat ?? 'json';
  const key = query.keyFormat ?? 'none';
  return (
    <>
      <Choice<MessageFormat>
        label="Message format"
        help="How the values of this topic are written. A record that does not fit becomes a row that says why, in the column _error."
        value={format}
        options={withSaved(FORMATS, format)}
        error={unread('values', format)}
        onCommit={(messageFormat) => edit({ messageFormat })}
        width={18}
      />
      <Choice<KeyFormat>
        label="Key"
        help="Whether the record's key is shown, and how it is written."
        value={key}
        options={withSaved(KEYS, key)}
        error={unread('keys', key)}
        onCommit={(keyFormat) => edit({ keyFormat })}
        width={16}
      />
      <Toggle
        label="Headers"
        help="Shows each header of the records as a text column, header.<name>."
        value={flag(query.headers)}
        onCommit={(headers) => edit({ headers })}
      />
    </>
  );
}

function withSaved<T extends string>(options: Array<SelectableValue<T>>, saved: T): Array<SelectableValue<T>> {
  const label = NOT_YET[saved];
  return label === undefined ? options : [...options, { label, value: saved }];
}

function unread(what: string, format: string): string | undefined {
  const label = NOT_YET[format];
  return label && `This version does not read ${label} ${what}. The query is kept as it was saved.`;
}

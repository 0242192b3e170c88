import { type SelectableValue } from '@grafana/data';
import { Button } from '@grafana/ui';
import React from 'react';

import { type DetectAnswer, type KeyFormat, type MessageFormat } from '../../types';
import { type Asked } from '../parts/ask';
import { Choice } from '../parts/Choice';
import { flag } from '../parts/lenient';
import { Toggle } from '../parts/Toggle';
import { type GroupProps } from './edit';

export const FORMATS: Array<SelectableValue<MessageFormat>> = [
  { label: 'JSON', value: 'json', description: 'One column a field; nested fields become a.b.c' },
  { label: 'Avro', value: 'avro', description: 'By a schema of yours or of a schema registry' },
  { label: 'Protobuf', value: 'protobuf', description: 'By a schema of yours or of a schema registry' },
  { label: 'Line protocol', value: 'lineprotocol', description: 'What Telegraf and InfluxDB clients write' },
  { label: 'Plain text', value: 'plaintext', description: 'The whole value in one column' },
];
export const KEYS: Array<SelectableValue<KeyFormat>> = [
  { label: 'Not shown', value: 'none' },
  { label: 'Text', value: 'string', description: 'One column, key' },
  { label: 'JSON', value: 'json', description: 'One column a field of the key, key.a.b' },
  { label: 'Avro', value: 'avro', description: 'One column a field of the key, by its own schema' },
  { label: 'Protobuf', value: 'protobuf', description: 'One column a field of the key, by its own schema' },
  { label: 'Base64', value: 'base64', description: 'One column, for keys that are no text' },
];

interface Props extends GroupProps {
  detection: Asked<DetectAnswer>;
}

/** How the value, the key and the headers of a record become columns. */
export function Format({ query, edit, detection }: Props) {
  const named = String(query.topicName ?? '').trim() !== '';
  return (
    <>
      <Choice<MessageFormat>
        label="Message format"
        help="How the values of this topic are written. Detect looks at the last records and says what fits. A record that does not fit becomes a row that says why, in the column _error."
        value={query.messageFormat ?? 'json'}
        options={FORMATS}
        error={detection.error}
        beside={
          <Button
            type="button"
            variant="secondary"
            icon={detection.running ? 'spinner' : 'search'}
            disabled={detection.running || !named}
            onClick={detection.run}
          >
            Detect
          </Button>
        }
        onCommit={(messageFormat) => edit({ messageFormat })}
        width={18}
      />
      <Choice<KeyFormat>
        label="Key"
        help="Whether the record's key is shown, and how it is written."
        value={query.keyFormat ?? 'none'}
        options={KEYS}
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

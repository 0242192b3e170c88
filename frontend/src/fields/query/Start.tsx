import { type SelectableValue } from '@grafana/data';
import { RadioButtonGroup } from '@grafana/ui';
import React, { useId } from 'react';

import { type NumberOrVariable, type StartMode } from '../../types';
import { hasVariable, type Parsed } from '../parts/draft';
import { QueryField } from '../parts/QueryField';
import { TextField } from '../parts/TextField';
import { type GroupProps } from './edit';

const MODES: Array<SelectableValue<StartMode>> = [
  { label: 'Latest', value: 'latest', description: 'Only records that arrive from now on' },
  { label: 'Last N', value: 'lastN', description: 'The last records of each partition, then new ones' },
  { label: 'Earliest', value: 'earliest', description: 'From the first record that Kafka still has, then new ones' },
];
const DEFAULT_LAST = 100;
const MOST_LAST = 1_000_000;

/** Where in the topic reading starts. */
export function Start({ query, edit }: GroupProps) {
  const id = useId();
  const mode = MODES.some(({ value }) => value === query.autoOffsetReset) ? query.autoOffsetReset : 'latest';
  return (
    <>
      <QueryField
        label="Start at"
        help="Latest shows only what arrives from now on. Last N begins with the newest records of each partition. Earliest begins with the oldest record that Kafka still has. New records follow in all three."
        note={mode === 'earliest' ? 'On a large topic this reads a lot before it reaches the present.' : undefined}
      >
        <RadioButtonGroup<StartMode>
          id={id}
          aria-label="Start at"
          options={MODES}
          value={mode}
          onChange={(value) => {
            if (value !== mode) {
              edit({ autoOffsetReset: value, lastN: value === 'lastN' ? (query.lastN ?? DEFAULT_LAST) : undefined });
            }
          }}
        />
      </QueryField>
      {mode === 'lastN' && (
        <TextField
          label="Records per partition"
          help="How many of the newest records of each partition the panel begins with: 1 to 1,000,000, or a variable such as $n."
          value={String(query.lastN ?? DEFAULT_LAST)}
          parse={count}
          onCommit={(lastN) => edit({ lastN: numberOr(lastN) })}
          width={16}
        />
      )}
    </>
  );
}

function count(text: string): Parsed<string> {
  const trimmed = text.trim();
  const number = Number(trimmed);
  if (hasVariable(trimmed) || (/^\d+$/.test(trimmed) && number >= 1 && number <= MOST_LAST)) {
    return { value: trimmed };
  }
  return { error: 'A whole number from 1 to 1,000,000, or a variable such as $n' };
}

function numberOr(text: string): NumberOrVariable {
  return /^\d+$/.test(text) ? Number(text) : text;
}

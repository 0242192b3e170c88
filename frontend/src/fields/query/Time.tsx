import { type SelectableValue } from '@grafana/data';
import React, { useId, useState } from 'react';

import { type TimeUnit } from '../../types';
import { Choice } from '../parts/Choice';
import { FreeSelect } from '../parts/FreeSelect';
import { QueryField } from '../parts/QueryField';
import { type GroupProps } from './edit';

type Source = 'message' | 'now' | 'field';

const SOURCES: Array<SelectableValue<Source>> = [
  { label: 'Record', value: 'message', description: 'The timestamp that Kafka keeps with the record' },
  { label: 'Arrival', value: 'now', description: 'The moment the record reaches Grafana' },
  { label: 'Field', value: 'field', description: 'A field of the record’s value' },
];
const UNITS: Array<SelectableValue<TimeUnit>> = [
  { label: 'Automatic', value: 'auto', description: 'By the size of the number; text as RFC 3339' },
  { label: 'Seconds', value: 's' },
  { label: 'Milliseconds', value: 'ms' },
  { label: 'Microseconds', value: 'us' },
  { label: 'Nanoseconds', value: 'ns' },
  { label: 'RFC 3339 text', value: 'rfc3339', description: '2026-01-31T12:00:00Z' },
];

interface Props extends GroupProps {
  /** The columns of the value that the last answer had. */
  columns: string[];
}

/** Where a row's time comes from. */
export function Time({ query, edit, columns }: Props) {
  const id = useId();
  // A field is a source only once it has a name, so the choice waits here until it has one.
  const [naming, setNaming] = useState(false);
  const field = query.timeField ?? '';
  const saved: Source = field !== '' ? 'field' : query.timestampMode === 'now' ? 'now' : 'message';
  const source = naming ? 'field' : saved;

  const choose = (chosen: Source) => {
    setNaming(chosen === 'field');
    if (chosen !== 'field' && chosen !== saved) {
      edit({ timestampMode: chosen, timeField: undefined, timeUnit: undefined });
    }
  };

  return (
    <>
      <Choice<Source>
        label="Time"
        help="What a row’s time is: the timestamp Kafka keeps with the record, the moment it arrives, or a field of the value."
        value={source}
        options={SOURCES}
        onCommit={choose}
        width={16}
      />
      {source === 'field' && (
        <>
          <QueryField
            label="Time field"
            htmlFor={id}
            help="The field of the value that holds the time, with dots for nested ones: event.created. A record without it takes its own timestamp."
            note={field === '' ? 'Until a field is named, rows keep the time they had.' : undefined}
          >
            <FreeSelect
              inputId={id}
              value={field}
              options={columns.map((name) => ({ label: name, value: name }))}
              placeholder="Field"
              empty="Write the field’s name"
              width={24}
              onCommit={(timeField) => {
                setNaming(false);
                edit({ timeField, timestampMode: 'message' });
              }}
            />
          </QueryField>
          <Choice<TimeUnit>
            label="Time unit"
            help="What a number in this field counts since 1970. Automatic decides by its size, and reads text as RFC 3339."
            value={query.timeUnit ?? 'auto'}
            options={UNITS}
            onCommit={(timeUnit) => edit({ timeUnit })}
            width={18}
          />
        </>
      )}
    </>
  );
}

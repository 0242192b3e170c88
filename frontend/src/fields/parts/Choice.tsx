import { type SelectableValue } from '@grafana/data';
import { Select } from '@grafana/ui';
import React, { type ReactNode, useId } from 'react';

import { QueryField } from './QueryField';

interface Props<T extends string> {
  label: string;
  help: ReactNode;
  value: T;
  options: Array<SelectableValue<T>>;
  onCommit(value: T): void;
  /** What is worth knowing about the present choice. */
  note?: string;
  error?: string;
  /** In units of 8 pixels. */
  width: number;
}

/**
 * One of a few values of the query.
 *
 * A saved value that is none of the options shows as it is and stays until another is chosen.
 */
export function Choice<T extends string>({ label, help, value, options, onCommit, note, error, width }: Props<T>) {
  const id = useId();
  const known = options.find((option) => option.value === value);
  return (
    <QueryField label={label} help={help} htmlFor={id} note={note} error={error}>
      <Select<T>
        inputId={id}
        value={known ?? { value, label: value }}
        options={options}
        width={width}
        onChange={(option) => {
          if (option.value !== undefined && option.value !== value) {
            onCommit(option.value);
          }
        }}
      />
    </QueryField>
  );
}

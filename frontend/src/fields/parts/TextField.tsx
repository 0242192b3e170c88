import { Input } from '@grafana/ui';
import React, { type ReactNode, useId } from 'react';

import { anyText, type Parsed, useDraft } from './draft';
import { QueryField } from './QueryField';

interface Props {
  label: string;
  help: ReactNode;
  /** The saved text; empty for none. */
  value: string;
  onCommit(text: string): void;
  /** Checks the text; without it any text is good. */
  parse?(text: string): Parsed<string>;
  placeholder?: string;
  /** In units of 8 pixels. */
  width?: number;
}

/** A text of the query, committed when the field is left or Enter is pressed. */
export function TextField({ label, help, value, onCommit, parse = anyText, placeholder, width }: Props) {
  const id = useId();
  const { error, input } = useDraft(value, parse, onCommit);
  return (
    <QueryField label={label} help={help} htmlFor={id} error={error}>
      <Input {...input} id={id} placeholder={placeholder} width={width} invalid={error !== undefined} autoComplete="off" />
    </QueryField>
  );
}

import { css } from '@emotion/css';
import { type GrafanaTheme2, type SelectableValue } from '@grafana/data';
import { Select, useStyles2 } from '@grafana/ui';
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
  success?: string;
  error?: string;
  /** What stands right beside the list. */
  beside?: ReactNode;
  /** In units of 8 pixels. */
  width: number;
}

/**
 * One of a few values of the query.
 *
 * A saved value that is none of the options shows as it is and stays until another is chosen.
 */
export function Choice<T extends string>({ value, options, onCommit, beside, width, ...field }: Props<T>) {
  const id = useId();
  const styles = useStyles2(getStyles);
  const known = options.find((option) => option.value === value);
  return (
    <QueryField {...field} htmlFor={id}>
      <div className={styles.line}>
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
        {beside}
      </div>
    </QueryField>
  );
}

function getStyles(theme: GrafanaTheme2) {
  return {
    line: css({ display: 'flex', alignItems: 'center', gap: theme.spacing(0.5) }),
  };
}

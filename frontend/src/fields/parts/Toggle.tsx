import { css } from '@emotion/css';
import { type GrafanaTheme2 } from '@grafana/data';
import { Switch, useStyles2 } from '@grafana/ui';
import React, { type ReactNode, useId } from 'react';

import { QueryField } from './QueryField';

interface Props {
  label: string;
  help: ReactNode;
  value: boolean;
  onCommit(value: boolean): void;
}

/** A yes or no of the query. */
export function Toggle({ label, help, value, onCommit }: Props) {
  const id = useId();
  const styles = useStyles2(getStyles);
  return (
    <QueryField label={label} help={help} htmlFor={id}>
      <div className={styles.switch}>
        <Switch id={id} value={value} onChange={(event) => onCommit(event.currentTarget.checked)} />
      </div>
    </QueryField>
  );
}

function getStyles(theme: GrafanaTheme2) {
  return {
    switch: css({ display: 'flex', alignItems: 'center', height: theme.spacing(theme.components.height.md) }),
  };
}

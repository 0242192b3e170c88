import { css } from '@emotion/css';
import { GrafanaTheme2 } from '@grafana/data';
import { getTemplateSrv } from '@grafana/runtime';
import { Select, useStyles2 } from '@grafana/ui';
import React, { useEffect } from 'react';
import { Dashboard } from '../dashboard';
import { findValues } from '../query/variable';
import { useValue } from './hooks';

/** The drop-down of one dashboard variable, offering what the data source answers to the variable's query. */
export function VariablePicker({ name, dashboard }: { name: string; dashboard: Dashboard }) {
  const styles = useStyles2(getStyles);
  const { templates } = dashboard;
  const dataSource = useValue(dashboard.dataSources.instance);
  const variable = useValue(templates.variables).find((other) => other.name === name);
  const query = variable?.query;
  useEffect(() => {
    const found = findValues(dataSource, query).subscribe((values) => templates.offer(name, values));
    return () => found.unsubscribe();
  }, [dataSource, name, query, templates]);
  const options = (variable?.options ?? []).map((value) => ({ value, label: value }));
  return (
    <div className={styles.variable}>
      <label htmlFor={`variable-${name}`} className={styles.label}>
        {name}
      </label>
      <Select
        inputId={`variable-${name}`}
        aria-label={`Variable ${name}`}
        options={options}
        value={{ value: variable?.value, label: getTemplateSrv().replace(`$${name}`) }}
        onChange={({ value }) => templates.choose(name, value ?? '')}
        allowCustomValue
        width={24}
      />
    </div>
  );
}

const getStyles = (theme: GrafanaTheme2) => ({
  variable: css({ display: 'flex' }),
  label: css({
    display: 'flex',
    alignItems: 'center',
    margin: 0,
    padding: theme.spacing(0, 1),
    height: theme.spacing(4),
    background: theme.colors.background.primary,
    border: `1px solid ${theme.components.input.borderColor}`,
    borderRight: 'none',
    borderRadius: '2px 0 0 2px',
    fontSize: theme.typography.bodySmall.fontSize,
    fontWeight: theme.typography.fontWeightMedium,
  }),
});

import { css } from '@emotion/css';
import { type GrafanaTheme2, type SelectableValue } from '@grafana/data';
import { Button, IconButton, Select, useStyles2 } from '@grafana/ui';
import React, { useId, useState } from 'react';

import { type FieldTypeName } from '../../types';
import { FreeSelect } from '../parts/FreeSelect';
import { QueryField } from '../parts/QueryField';
import { type GroupProps } from './edit';

const TYPES: Array<SelectableValue<FieldTypeName>> = [
  { label: 'Number', value: 'number' },
  { label: 'Text', value: 'text', description: 'Keeps every digit of a long number' },
  { label: 'Boolean', value: 'boolean' },
  { label: 'Time', value: 'time' },
];

interface Props extends GroupProps {
  columns: string[];
}

/** Columns whose type is fixed, one line each. */
export function FieldTypes({ query, edit, columns }: Props) {
  const id = useId();
  const styles = useStyles2(getStyles);
  // A line without a name is not saved, so it waits here.
  const [adding, setAdding] = useState(false);
  const fixed = Object.entries(query.fieldTypes ?? {});

  const save = (entries: Array<[string, FieldTypeName]>) => {
    edit({ fieldTypes: entries.length === 0 ? undefined : Object.fromEntries(entries) });
  };
  const free = columns.filter((name) => !fixed.some(([taken]) => taken === name));
  const nameOptions = free.map((name) => ({ label: name, value: name }));

  return (
    <QueryField
      label="Column types"
      help="Fixes what a column is, whatever the records hold. Without this a column keeps the type it has first: text that later comes into a number column is left out."
    >
      <div className={styles.lines}>
        {fixed.map(([name, type], at) => (
          <div className={styles.line} key={name}>
            <FreeSelect
              inputId={`${id}-${at}`}
              ariaLabel={`Column ${at + 1}`}
              value={name}
              options={nameOptions}
              placeholder="Column"
              width={24}
              accepts={(text) => !fixed.some(([taken]) => taken === text)}
              onCommit={(renamed) => save(fixed.map((entry, i) => (i === at ? [renamed, type] : entry)))}
            />
            <Select<FieldTypeName>
              aria-label={`Type of ${name}`}
              value={TYPES.find(({ value }) => value === type) ?? { label: type, value: type }}
              options={TYPES}
              width={14}
              onChange={({ value }) => {
                if (value !== undefined && value !== type) {
                  save(fixed.map((entry, i) => (i === at ? [name, value] : entry)));
                }
              }}
            />
            <IconButton
              name="trash-alt"
              tooltip={`Remove the type of ${name}`}
              onClick={() => save(fixed.filter((_, i) => i !== at))}
            />
          </div>
        ))}
        {adding && (
          <div className={styles.line}>
            <FreeSelect
              inputId={`${id}-new`}
              ariaLabel="New column"
              value=""
              options={nameOptions}
              placeholder="Column"
              empty="Write the column’s name"
              width={24}
              accepts={(text) => !fixed.some(([taken]) => taken === text)}
              onCommit={(name) => {
                setAdding(false);
                save([...fixed, [name, 'number']]);
              }}
            />
            <IconButton name="times" tooltip="Cancel" onClick={() => setAdding(false)} />
          </div>
        )}
        {!adding && (
          <Button variant="secondary" fill="outline" icon="plus" type="button" onClick={() => setAdding(true)}>
            Add type
          </Button>
        )}
      </div>
    </QueryField>
  );
}

function getStyles(theme: GrafanaTheme2) {
  return {
    lines: css({ display: 'flex', flexDirection: 'column', alignItems: 'flex-start', gap: theme.spacing(0.5) }),
    line: css({ display: 'flex', alignItems: 'center', gap: theme.spacing(0.5) }),
  };
}

import { type SelectableValue } from '@grafana/data';
import React from 'react';

import { type RecordColumns } from '../../types';
import { Choice } from '../parts/Choice';
import { TextField } from '../parts/TextField';
import { type GroupProps } from './edit';
import { FieldTypes } from './FieldTypes';

const RECORD_COLUMNS: Array<SelectableValue<RecordColumns>> = [
  { label: 'Automatic', value: 'auto', description: 'Left out where the panel plots numbers' },
  { label: 'Always', value: 'always' },
  { label: 'Never', value: 'never' },
];

interface Props extends GroupProps {
  /** The columns that the last answer had. */
  columns: string[];
}

/** Which columns are shown, and as what. */
export function Columns({ query, edit, columns }: Props) {
  return (
    <>
      <TextField
        label="Alias"
        help="The name of the series. {{topic}}, {{partition}}, {{refid}} and {{field}} are replaced by what they stand for."
        value={query.alias ?? ''}
        onCommit={(alias) => edit({ alias: alias === '' ? undefined : alias })}
        placeholder="{{topic}} {{field}}"
        width={28}
      />
      <Choice<RecordColumns>
        label="Partition and offset"
        help="Whether the columns partition and offset are shown. Automatic leaves them out where the panel would plot them as numbers beside your values."
        value={query.recordColumns ?? 'always'}
        options={RECORD_COLUMNS}
        onCommit={(recordColumns) => edit({ recordColumns })}
        width={18}
      />
      <FieldTypes query={query} edit={edit} columns={columns} />
    </>
  );
}

import { type SelectableValue } from '@grafana/data';
import { Select } from '@grafana/ui';
import React, { useId } from 'react';

import { hasVariable } from '../parts/draft';
import { QueryField } from '../parts/QueryField';
import { type GroupProps, variableOptions } from './edit';
import { type Partitions } from './partitions';

const ALL = { label: 'All', value: 'all', description: 'Every partition of the topic, and those added later' };

interface Props extends GroupProps {
  partitions: Partitions;
}

/** Which partitions of the topic are read. */
export function Partition({ query, edit, partitions }: Props) {
  const id = useId();
  const saved = String(query.partition ?? 'all');
  const numbers = (partitions.list ?? []).map((number) => ({ label: String(number), value: String(number) }));
  const options: Array<SelectableValue<string>> = [ALL, ...numbers, ...variableOptions()];
  const missing = isNumber(saved) && partitions.list !== undefined && !partitions.list.includes(Number(saved));

  return (
    <QueryField
      label="Partition"
      htmlFor={id}
      help="Kafka splits a topic into partitions. Read all of them, one by its number, or the one that a variable names."
      error={missing ? `There is no partition ${saved.trim()}, ${present(partitions.list)}` : undefined}
    >
      <Select<string>
        inputId={id}
        value={options.find(({ value }) => value === saved) ?? { label: saved, value: saved }}
        options={options}
        isLoading={partitions.loading}
        invalid={missing}
        width={16}
        allowCustomValue
        allowCreateWhileLoading
        formatCreateLabel={(text) => `Use “${text}”`}
        isValidNewOption={(text) =>
          (isNumber(text) || hasVariable(text)) && !options.some(({ value }) => value === text.trim())
        }
        onOpenMenu={partitions.retry}
        onChange={({ value }) => {
          const chosen = value?.trim() ?? ALL.value;
          if (chosen !== saved) {
            edit({ partition: isNumber(chosen) ? Number(chosen) : chosen });
          }
        }}
      />
    </QueryField>
  );
}

function isNumber(text: string): boolean {
  return /^\s*\d{1,9}\s*$/.test(text);
}

function present(list: number[] = []): string {
  const last = list[list.length - 1];
  if (last === undefined) {
    return 'and no other';
  }
  return list.length === 1 ? `only ${last}` : `only ${list[0]} to ${last}`;
}

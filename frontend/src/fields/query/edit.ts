import { type SelectableValue } from '@grafana/data';
import { getTemplateSrv } from '@grafana/runtime';

import { type KafkaQuery } from '../../types';

/** What a group of controls gets: the saved query, and the way to change keys of it. */
export interface GroupProps {
  query: KafkaQuery;
  /** Saves these keys and runs the query; a key with `undefined` is removed. */
  edit(patch: Partial<KafkaQuery>): void;
}

/** Returns the query with the keys of `patch`, where `undefined` removes a key. */
export function apply(query: KafkaQuery, patch: Partial<KafkaQuery>): KafkaQuery {
  const keys = Object.keys(patch) as Array<keyof KafkaQuery>;
  const changed = { ...query, ...patch };
  for (const key of keys) {
    if (changed[key] === undefined) {
      delete changed[key];
    }
  }
  return changed;
}

/** The dashboard's variables, as choices. */
export function variableOptions(): Array<SelectableValue<string>> {
  return getTemplateSrv()
    .getVariables()
    .map(({ name }) => ({ label: `$${name}`, value: `$${name}`, description: 'Dashboard variable' }));
}

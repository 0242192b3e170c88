import { type QueryEditorProps } from '@grafana/data';
import { EditorRow } from '@grafana/plugin-ui';
import React from 'react';

import { type DataSource } from './datasource';
import { type Parsed } from './fields/parts/draft';
import { flag } from './fields/parts/lenient';
import { TextField } from './fields/parts/TextField';
import { Toggle } from './fields/parts/Toggle';
import { type KafkaOptions, type KafkaQuery, type TopicVariableQuery } from './types';

type Props = QueryEditorProps<DataSource, KafkaQuery, KafkaOptions, TopicVariableQuery>;

/** The most topics that a variable takes. */
export const MOST_TOPICS = 1000;

/** Reads a variable's query, which Grafana hands over as an empty text as long as it is new. */
export function savedQuery(given: unknown): Partial<TopicVariableQuery> {
  return typeof given === 'object' && given !== null ? given : {};
}

/** The editor of a dashboard variable whose values are topics. */
export function VariableQueryEditor({ query: given, onChange }: Props) {
  const query = savedQuery(given);
  const edit = (patch: Partial<TopicVariableQuery>) => {
    const changed: TopicVariableQuery = { refId: 'topics', ...query, ...patch };
    if (changed.limit === undefined) {
      delete changed.limit;
    }
    onChange(changed);
  };

  return (
    <div data-testid="kafka-variable-query">
      <EditorRow>
        <TextField
          label="Topics with"
          help="The variable’s values are the topics that have this text in their name, in upper or lower case. Leave it empty for all topics. The regex below narrows them down further."
          value={query.search ?? ''}
          onCommit={(search) => edit({ search })}
          placeholder="all topics"
          width={30}
        />
        <TextField
          label="At most"
          help="How many topics the variable takes: 1 to 1,000."
          value={query.limit === undefined ? '' : String(query.limit)}
          parse={limit}
          onCommit={(text) => edit({ limit: text === '' ? undefined : Number(text) })}
          placeholder={String(MOST_TOPICS)}
          width={12}
        />
        <Toggle
          label="Internal topics"
          help="Also lists the topics that Kafka and its tools keep for themselves, such as __consumer_offsets."
          value={flag(query.internal)}
          onCommit={(internal) => edit({ internal })}
        />
      </EditorRow>
    </div>
  );
}

function limit(text: string): Parsed<string> {
  const trimmed = text.trim();
  const number = Number(trimmed);
  if (trimmed === '' || (/^\d+$/.test(trimmed) && number >= 1 && number <= MOST_TOPICS)) {
    return { value: trimmed };
  }
  return { error: 'A whole number from 1 to 1,000' };
}

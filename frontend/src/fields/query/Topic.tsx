import React, { useId } from 'react';

import { type DataSource } from '../../datasource';
import { FreeSelect } from '../parts/FreeSelect';
import { text } from '../parts/lenient';
import { QueryField } from '../parts/QueryField';
import { type GroupProps, variableOptions } from './edit';
import { type Partitions } from './partitions';
import { SHOWN, useTopicSearch } from './topics';

interface Props extends GroupProps {
  datasource: DataSource;
  partitions: Partitions;
}

/** Which topic is read: searched for as one types, written out, or named by a variable. */
export function Topic({ query, edit, datasource, partitions }: Props) {
  const id = useId();
  const { topics, cut, loading, error, search } = useTopicSearch(datasource);
  const saved = text(query.topicName);
  const options = [...topics.map((topic) => ({ label: topic, value: topic })), ...variableOptions()];
  const wrong = error ?? partitions.error;

  return (
    <QueryField
      label="Topic"
      htmlFor={id}
      grow
      help="The Kafka topic to read. Type a part of its name to search, write the whole name, or use a dashboard variable such as $topic."
      error={wrong}
      note={cut ? `The list has the first ${SHOWN} topics. Type a part of the name to find others.` : undefined}
    >
      <FreeSelect
        inputId={id}
        value={saved}
        options={options}
        loading={loading}
        invalid={wrong !== undefined}
        placeholder="Search for a topic"
        empty={error === undefined ? 'No topic has this in its name' : 'Topics cannot be listed: write the name'}
        onSearch={(typed) => {
          partitions.retry();
          if (!typed.includes('$')) {
            search(typed);
          }
        }}
        onCommit={(topicName) => edit({ topicName })}
      />
    </QueryField>
  );
}

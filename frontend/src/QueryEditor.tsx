import { css } from '@emotion/css';
import { type GrafanaTheme2, type QueryEditorProps } from '@grafana/data';
import { EditorRow } from '@grafana/plugin-ui';
import { useStyles2 } from '@grafana/ui';
import React from 'react';

import { type DataSource } from './datasource';
import { text } from './fields/parts/lenient';
import { OptionGroup } from './fields/parts/OptionGroup';
import { Columns } from './fields/query/Columns';
import { apply, type GroupProps } from './fields/query/edit';
import { Format } from './fields/query/Format';
import { Partition } from './fields/query/Partition';
import { usePartitions } from './fields/query/partitions';
import { Reading } from './fields/query/Reading';
import { Start } from './fields/query/Start';
import { summary } from './fields/query/summary';
import { Time } from './fields/query/Time';
import { Topic } from './fields/query/Topic';
import { type KafkaOptions, type KafkaQuery } from './types';

type Props = QueryEditorProps<DataSource, KafkaQuery, KafkaOptions>;

/**
 * The editor of one query of a panel.
 *
 * It writes nothing of its own accord: a saved query stays as it is until a control is used, and each use changes the
 * keys of that control and runs the query once.
 */
export function QueryEditor({ query, onChange, onRunQuery, datasource, data }: Props) {
  const styles = useStyles2(getStyles);
  const partitions = usePartitions(datasource, text(query.topicName));
  const group: GroupProps = {
    query,
    edit: (patch) => {
      onChange(apply(query, patch));
      onRunQuery();
    },
  };
  const columns = columnNames(data, query.refId);

  return (
    <div className={styles.rows} data-testid={`kafka-query-${query.refId}`}>
      <EditorRow>
        <Topic {...group} datasource={datasource} partitions={partitions} />
        <Partition {...group} partitions={partitions} />
        <Start {...group} />
      </EditorRow>
      <EditorRow>
        <Format {...group} />
        <Time {...group} columns={columns} />
      </EditorRow>
      <EditorRow>
        <OptionGroup title="Options" summary={summary(query)}>
          <Columns {...group} columns={columns} />
          <Reading {...group} />
        </OptionGroup>
      </EditorRow>
    </div>
  );
}

const OWN_COLUMNS = ['time', 'partition', 'offset', '_error'];

/** Names the columns that the query's last answer had beside those of every record. */
function columnNames(data: Props['data'], refId: string): string[] {
  const frames = data?.series.filter((frame) => frame.refId === refId) ?? [];
  const names = frames.flatMap(({ fields }) => fields.map(({ name }) => name));
  return [...new Set(names)].filter((name) => !OWN_COLUMNS.includes(name));
}

function getStyles(theme: GrafanaTheme2) {
  return {
    // Not EditorRows: its column wraps, which makes a row taller than what it holds.
    rows: css({ display: 'flex', flexDirection: 'column', gap: theme.spacing(0.5) }),
  };
}

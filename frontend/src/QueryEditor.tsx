import { css } from '@emotion/css';
import { type GrafanaTheme2, type QueryEditorProps } from '@grafana/data';
import { EditorRow } from '@grafana/plugin-ui';
import { useStyles2 } from '@grafana/ui';
import React from 'react';

import { type DataSource } from './datasource';
import { useAsk } from './fields/parts/ask';
import { text } from './fields/parts/lenient';
import { OptionGroup } from './fields/parts/OptionGroup';
import { Columns } from './fields/query/Columns';
import { apply, type GroupProps } from './fields/query/edit';
import { Findings } from './fields/query/Findings';
import { Format } from './fields/query/Format';
import { LineProtocol } from './fields/query/LineProtocol';
import { Partition } from './fields/query/Partition';
import { usePartitions } from './fields/query/partitions';
import { Reading } from './fields/query/Reading';
import { Schema } from './fields/query/Schema';
import { SchemaOptions } from './fields/query/SchemaOptions';
import { Start } from './fields/query/Start';
import { summary } from './fields/query/summary';
import { Time } from './fields/query/Time';
import { Topic } from './fields/query/Topic';
import { type KafkaOptions, type KafkaQuery, type SchemaFormat } from './types';

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
  const detection = useAsk(`${query.topicName} ${query.partition}`, () => datasource.detect(query));
  const value = schemaFormat(query.messageFormat);
  const key = schemaFormat(query.keyFormat);

  return (
    <div className={styles.rows} data-testid={`kafka-query-${query.refId}`}>
      <EditorRow>
        <Topic {...group} datasource={datasource} partitions={partitions} />
        <Partition {...group} partitions={partitions} />
        <Start {...group} />
      </EditorRow>
      <EditorRow>
        <Format {...group} detection={detection} />
        <Time {...group} columns={columns} />
      </EditorRow>
      {detection.answer && (
        <EditorRow>
          <Findings found={detection.answer} edit={group.edit} close={detection.forget} />
        </EditorRow>
      )}
      {value && (
        <EditorRow>
          <Schema {...group} key={value} of="value" format={value} datasource={datasource} />
        </EditorRow>
      )}
      {query.messageFormat === 'lineprotocol' && (
        <EditorRow>
          <LineProtocol {...group} />
        </EditorRow>
      )}
      {key && (
        <EditorRow>
          <Schema {...group} key={key} of="key" format={key} datasource={datasource} />
        </EditorRow>
      )}
      {(value ?? key) && (
        <EditorRow>
          <SchemaOptions {...group} datasource={datasource} />
        </EditorRow>
      )}
      <EditorRow>
        <OptionGroup title="Options" summary={summary(query)}>
          <Columns {...group} columns={columns} />
          <Reading {...group} />
        </OptionGroup>
      </EditorRow>
    </div>
  );
}

function schemaFormat(format: string | undefined): SchemaFormat | undefined {
  return format === 'avro' || format === 'protobuf' ? format : undefined;
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

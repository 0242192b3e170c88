import { DataSourcePlugin } from '@grafana/data';

import { ConfigEditor } from './ConfigEditor';
import { DataSource } from './datasource';
import { QueryEditor } from './QueryEditor';
import { type KafkaOptions, type KafkaQuery, type KafkaSecrets } from './types';

export const plugin = new DataSourcePlugin<DataSource, KafkaQuery, KafkaOptions, KafkaSecrets>(DataSource)
  .setConfigEditor(ConfigEditor)
  .setQueryEditor(QueryEditor);

import { DataSourcePlugin } from '@grafana/data';

import { DataSource } from './datasource';
import { type KafkaOptions, type KafkaQuery, type KafkaSecrets } from './types';

export const plugin = new DataSourcePlugin<DataSource, KafkaQuery, KafkaOptions, KafkaSecrets>(DataSource);

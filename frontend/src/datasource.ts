import { type CoreApp, type DataSourceInstanceSettings, type ScopedVars } from '@grafana/data';
import { DataSourceWithBackend, getTemplateSrv } from '@grafana/runtime';

import { interpolate } from './interpolate';
import { resourceError } from './resources';
import { type KafkaOptions, type KafkaQuery, type PartitionsAnswer, type TopicsAnswer } from './types';

/** Which topics to look for. */
export interface TopicSearch {
  /** What the name has to contain, whatever the case. */
  search?: string;
  limit?: number;
  /** With the topics that Kafka keeps for itself. */
  internal?: boolean;
}

export class DataSource extends DataSourceWithBackend<KafkaQuery, KafkaOptions> {
  constructor(settings: DataSourceInstanceSettings<KafkaOptions>) {
    super(settings);
  }

  /** What a new query starts with. A saved query that lacks a key has the default of `types.ts`. */
  override getDefaultQuery(_app: CoreApp): Partial<KafkaQuery> {
    return {
      topicName: '',
      partition: 'all',
      autoOffsetReset: 'latest',
      timestampMode: 'message',
      messageFormat: 'json',
      recordColumns: 'auto',
    };
  }

  /** Says whether there is anything to ask. Runs before the variables are filled in, so it judges no text. */
  override filterQuery(query: KafkaQuery): boolean {
    return typeof query.topicName === 'string' && query.topicName.trim() !== '';
  }

  override applyTemplateVariables(query: KafkaQuery, scopedVars: ScopedVars): KafkaQuery {
    const templates = getTemplateSrv();
    return interpolate(query, (text) => templates.replace(text, scopedVars));
  }

  /** Finds topics by a part of their name; errors are in the words of the process. */
  async topics({ search = '', limit, internal }: TopicSearch = {}): Promise<string[]> {
    const answer: TopicsAnswer = await this.resource('topics', {
      search,
      ...(limit === undefined ? {} : { limit }),
      ...(internal === undefined ? {} : { internal }),
    });
    return answer.topics ?? [];
  }

  /** Lists the partitions of a topic in ascending order; the topic may hold template variables. */
  async partitions(topic: string): Promise<number[]> {
    const answer: PartitionsAnswer = await this.resource('partitions', { topic: getTemplateSrv().replace(topic) });
    return answer.partitions;
  }

  private async resource<T>(path: string, params: Record<string, string | number | boolean>): Promise<T> {
    try {
      return await this.getResource<T>(path, params, { showErrorAlert: false });
    } catch (error) {
      throw resourceError(error);
    }
  }
}

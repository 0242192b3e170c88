import {
  type CoreApp,
  type DataQueryRequest,
  type DataQueryResponse,
  type DataSourceInstanceSettings,
  dateTime,
  type QueryResultMetaNotice,
  type ScopedVars,
  type TimeRange,
} from '@grafana/data';
import { config, DataSourceWithBackend, getTemplateSrv } from '@grafana/runtime';
import { firstValueFrom, map, type Observable, of, switchMap } from 'rxjs';

import { interpolate } from './interpolate';
import { look } from './live/frame';
import { type Answer } from './live/session';
import { Sessions } from './live/sessions';
import { answerOf, follow, still, type Target } from './live/stream';
import { words } from './resources';
import {
  type Cursor,
  type DetectAnswer,
  type KafkaOptions,
  type KafkaQuery,
  type PartitionsAnswer,
  type SchemaFormat,
  type TopicsAnswer,
  type ValidationAnswer,
} from './types';
import { TopicVariables } from './variables';

/** Which topics to look for. */
export interface TopicSearch {
  /** What the name has to contain, whatever the case. */
  search?: string;
  limit?: number;
  /** With the topics that Kafka keeps for itself. */
  internal?: boolean;
}

export class DataSource extends DataSourceWithBackend<KafkaQuery, KafkaOptions> {
  /** Whether the settings name a schema registry. */
  readonly hasRegistry: boolean;
  private readonly sessions = new Sessions();

  constructor(settings: DataSourceInstanceSettings<KafkaOptions>) {
    super(settings);
    this.hasRegistry = Boolean(settings.jsonData.schemaRegistryUrl);
    this.variables = new TopicVariables(this);
  }

  /**
   * Asks the process for all targets at once, and follows their streams where the range ends in now.
   *
   * A query with expressions is computed in Grafana's server, which knows no stream.
   */
  override query(request: DataQueryRequest<KafkaQuery>): Observable<DataQueryResponse> {
    const targets = request.targets.filter((target) => isExpression(target) || this.filterQuery(target));
    if (targets.length === 0) {
      return of({ data: [] });
    }
    const { app, panelPluginId, range } = request;
    const parts: Target[] = targets
      .filter((target) => !isExpression(target))
      .map((target) => {
        const filled = this.applyTemplateVariables(target, request.scopedVars);
        return {
          query: identity(filled),
          look: look(filled, { app, panelPluginId }),
          ask: (resumeAt) => this.askAgain(request, target, resumeAt),
        };
      });
    const answer = super.query({ ...request, targets });
    if (parts.length < targets.length || !endsNow(range) || !hasLive()) {
      const looks = parts.map(({ look }) => look);
      const notices = endsNow(range) && !config.liveEnabled ? [LIVE_IS_OFF] : [];
      return answer.pipe(map((answer) => still(answer, looks, notices)));
    }
    const view = {
      uid: this.uid,
      rows: request.maxDataPoints ?? 500,
      span: range.to.valueOf() - range.from.valueOf(),
      panelPluginId,
    };
    return answer.pipe(switchMap((answer) => follow(answer, parts, view, this.sessions)));
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
    return Boolean(query.topicName) && String(query.topicName).trim() !== '';
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

  /** Looks at the last records of a query's topic and proposes how to read them. */
  async detect({ topicName, partition = 'all' }: Pick<KafkaQuery, 'topicName' | 'partition'>): Promise<DetectAnswer> {
    const filled = interpolate({ refId: '', topicName, partition }, (text) => getTemplateSrv().replace(text));
    return this.resource('detect', { topic: filled.topicName, partition: filled.partition ?? 'all' });
  }

  /** Has the process compile a schema, and returns what it says; a schema that does not compile is an error. */
  async validateSchema(format: SchemaFormat, schema: string): Promise<string> {
    const body = { schema: getTemplateSrv().replace(schema) };
    const path = `validate-${format}-schema`;
    return words(() => this.postResource<ValidationAnswer>(path, body, QUIET).then(({ message }) => message));
  }

  /** Has the process try the schema registry of the saved settings, and returns what it says. */
  async validateRegistry(): Promise<string> {
    const { message }: ValidationAnswer = await this.resource('validate-schema-registry', {});
    return message;
  }

  /** Asks for one target again, up to now, in a request of its own: Grafana cancels one of the same id. */
  private async askAgain(
    request: DataQueryRequest<KafkaQuery>,
    target: KafkaQuery,
    resumeAt: Cursor
  ): Promise<Answer> {
    const requestId = `${request.requestId}-${target.refId}-resume`;
    const range = upToNow(request.range);
    const targets = [{ ...target, resumeAt }];
    return answerOf(await firstValueFrom(super.query({ ...request, requestId, range, targets })), target.refId);
  }

  private async resource<T>(path: string, params: Record<string, string | number | boolean>): Promise<T> {
    return words(() => this.getResource<T>(path, params, QUIET));
  }
}

/** Tells a query from others, whichever panel asks it and however that shows it. */
function identity(query: KafkaQuery): string {
  const look = { refId: undefined, alias: undefined, recordColumns: undefined, hide: undefined, key: undefined };
  return JSON.stringify({ ...query, ...look });
}

/** Grafana's own alert would repeat what stands at the field. */
const QUIET = { showErrorAlert: false };

const LIVE_IS_OFF: QueryResultMetaNotice = {
  severity: 'warning',
  text: 'Grafana Live is switched off in this Grafana ([live] max_connections is 0), so rows come with each refresh only: a panel that starts at Latest has none, one that starts at Last N has.',
};

/** Says whether a target is computed by Grafana itself. Its runtime has a function for that from Grafana 10.3 on. */
function isExpression({ datasource }: KafkaQuery): boolean {
  return datasource?.type === EXPRESSION || datasource?.uid === EXPRESSION || datasource?.uid === OLD_EXPRESSION;
}

const EXPRESSION = '__expr__';
/** As old dashboards have it. */
const OLD_EXPRESSION = '-100';

/** Says whether a range ends in now, so that what is yet to come belongs to it. */
function endsNow({ raw, to }: TimeRange): boolean {
  return typeof raw.to === 'string' && raw.to.startsWith('now') && (raw.to === 'now' || to.valueOf() >= Date.now());
}

/** A public dashboard is given the answer alone: its viewers have no user to subscribe with. */
function hasLive(): boolean {
  return config.liveEnabled && !config.publicDashboardAccessToken;
}

function upToNow({ from, to, raw }: TimeRange): TimeRange {
  const moved = Math.max(0, Date.now() - to.valueOf());
  return { from: dateTime(from.valueOf() + moved), to: dateTime(to.valueOf() + moved), raw };
}

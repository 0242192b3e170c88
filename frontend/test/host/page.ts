import {
  CoreApp,
  type DataFrame,
  type DataFrameJSON,
  type DataQueryError,
  type DataQueryRequest,
  type DataQueryResponse,
  dateTime,
  type LoadingState,
  type QueryResultMetaNotice,
} from '@grafana/data';
import { config, setBackendSrv, setGrafanaLiveSrv, setTemplateSrv } from '@grafana/runtime';
import { of, type Subscription, throwError } from 'rxjs';

import { DataSource } from '../../src/datasource';
import { type LiveLink } from '../../src/live/packet';
import { type KafkaQuery } from '../../src/types';
import { FakeLive } from './live';

/** What the process answers to one target. */
export interface TestResult {
  frames?: DataFrameJSON[];
  error?: string;
  status?: number;
}

/** The part of a query that reaches the process, as the tests look at it. */
export type Asked = KafkaQuery & { maxDataPoints?: number };

/** A page of Grafana: its Live service, its data source, and the process behind it. */
export class Page {
  readonly live = new FakeLive();
  /** The process behind it does not answer. */
  isAway = false;
  /** The requests that reached the process, each with its targets. */
  readonly asked: Asked[][] = [];
  readonly datasource: DataSource;

  constructor(
    uid: string,
    private readonly answer: (query: Asked) => TestResult,
    variables: Record<string, string> = {}
  ) {
    config.liveEnabled = true;
    setGrafanaLiveSrv(this.live as never);
    setTemplateSrv({
      replace: (text = '') => text.replace(/\$\{?(\w+)\}?/g, (whole: string, name: string) => variables[name] ?? whole),
    } as never);
    setBackendSrv({ fetch: (options: { data: { queries: Asked[] } }) => this.fetch(options.data.queries) } as never);
    this.datasource = new DataSource({ uid, id: 1, type: 'streamscope-kafka-datasource', name: uid, jsonData: {} } as never);
  }

  /** Opens a panel with these targets, and waits for its answer. */
  async panel(targets: Array<Partial<KafkaQuery>>, request: Partial<DataQueryRequest<KafkaQuery>> = {}): Promise<Panel> {
    const panel = new Panel(this.datasource, targets, request);
    panels.add(panel);
    await panel.refresh();
    return panel;
  }

  /** The server confirms the subscription to a channel, and packets come. */
  async stream(path: string, ...packets: unknown[]): Promise<void> {
    this.live.confirm(path);
    packets.forEach((packet) => this.live.publish(path, packet));
    await pass(200);
  }

  private fetch(queries: Asked[]) {
    this.asked.push(queries);
    if (this.isAway) {
      return throwError(() => ({ status: 502, data: { message: 'An error occurred within the plugin' } }));
    }
    const results = Object.fromEntries(queries.map((query) => [query.refId, this.answer(query)]));
    const failed = Object.values(results).some(({ error }) => error !== undefined);
    const response = { status: failed ? 400 : 200, data: { results: JSON.parse(JSON.stringify(results)) as object } };
    return failed ? throwError(() => response) : of(response);
  }
}

/** A panel: subscribes to its query, and keeps what it was last given, as Grafana does. */
export class Panel {
  emissions = 0;
  last: DataQueryResponse = { data: [] };
  private subscription: Subscription | undefined;

  constructor(
    private readonly datasource: DataSource,
    private readonly targets: Array<Partial<KafkaQuery>>,
    private readonly request: Partial<DataQueryRequest<KafkaQuery>>
  ) {}

  /** Asks again, as Grafana does: the old query is given up first. */
  async refresh(): Promise<void> {
    this.close();
    const now = Date.now();
    const targets = this.targets.map((target, i) => ({ refId: 'ABC'.charAt(i), topicName: 'orders', ...target }));
    const request = {
      app: CoreApp.Dashboard,
      requestId: `Q${now}`,
      interval: '1s',
      intervalMs: 1000,
      maxDataPoints: 500,
      range: { from: dateTime(now - 300_000), to: dateTime(now), raw: { from: 'now-5m', to: 'now' } },
      scopedVars: {},
      timezone: 'browser',
      startTime: now,
      targets,
      ...this.request,
    };
    this.subscription = this.datasource.query(request).subscribe((response) => {
      this.last = response;
      this.emissions++;
    });
    await pass(0);
  }

  close(): void {
    this.subscription?.unsubscribe();
  }

  /** The frame of a target. */
  frame(refId = 'A'): DataFrame {
    const frame = (this.last.data as DataFrame[]).find((frame) => frame.refId === refId);
    if (!frame) {
      throw new Error(`no frame for ${refId} in ${JSON.stringify(this.last)}`);
    }
    return frame;
  }

  /** The values of a column. */
  values(name: string, refId?: string): unknown[] {
    return Array.from(this.frame(refId).fields.find((field) => field.name === name)?.values ?? []);
  }

  names(refId?: string): string[] {
    return this.frame(refId).fields.map(({ name }) => name);
  }

  get notices(): QueryResultMetaNotice[] {
    return this.frame().meta?.notices ?? [];
  }

  get errors(): DataQueryError[] {
    return this.last.errors ?? [];
  }

  get state(): LoadingState | undefined {
    return this.last.state;
  }
}

/** Closes every panel of every page, and waits until their sessions have ended too. */
export async function closeAll(): Promise<void> {
  panels.forEach((panel) => panel.close());
  panels.clear();
  await pass(31_000);
}

const panels = new Set<Panel>();

/** Lets time pass, and everything that waits for it run. */
export async function pass(milliseconds: number): Promise<void> {
  await vi.advanceTimersByTimeAsync(milliseconds);
}

/** The link to the stream of `latest` of a topic. */
export function latest(path = 'latest-1'): LiveLink {
  return { path, key: path, data: { topicName: 'orders', autoOffsetReset: 'latest' } };
}

import {
  CoreApp,
  DataQueryError,
  DataQueryRequest,
  DataQueryResponse,
  DataSourceApi,
  DataTopic,
  LoadingState,
  PanelData,
  RawTimeRange,
  rangeUtil,
  toDataFrame,
} from '@grafana/data';
import { toDataQueryError } from '@grafana/runtime';
import { DataQuery } from '@grafana/schema';
import { BehaviorSubject, defer, from, isObservable, Observable, of, Subscription } from 'rxjs';
import { resolveRange } from './range';

/** How long a query may take before its panel shows a loading bar. */
const LOADING_DELAY_MS = 200;

/** What one run asks for, besides the targets. */
export interface RunOptions {
  panelId: number;
  panelTitle: string;
  panelPluginId: string;
  range: RawTimeRange;
  maxDataPoints: number;
  timezone: string;
}

let requests = 100;

/**
 * Runs a panel's queries as a dashboard does: one request, whose answer may be a stream; a newer run ends the older
 * one first, and its data stays until the new data arrives. Parts of an answer are kept by their key.
 */
export class QueryRunner {
  readonly data = new BehaviorSubject<PanelData>({
    state: LoadingState.NotStarted,
    series: [],
    timeRange: resolveRange({ from: 'now-5m', to: 'now' }),
  });
  private running?: Subscription;

  run(dataSource: DataSourceApi, targets: DataQuery[], options: RunOptions): void {
    this.cancel();
    const request = buildRequest(dataSource, targets, options);
    const parts = new Map<string, DataQueryResponse>();
    const timer = setTimeout(() => this.merge({ state: LoadingState.Loading, request }), LOADING_DELAY_MS);
    const asked = request.targets.length > 0 ? ask(dataSource, request) : of<DataQueryResponse>({ data: [] });
    const running = asked.subscribe({
      next: (part) => {
        clearTimeout(timer);
        parts.set(part.key ?? 'A', part);
        this.data.next(combine([...parts.values()], part, request));
      },
      error: (cause: unknown) => {
        clearTimeout(timer);
        const error = toDataQueryError(cause as DataQueryError);
        this.merge({ state: LoadingState.Error, error, errors: [error], request });
      },
      complete: () => clearTimeout(timer),
    });
    running.add(() => clearTimeout(timer));
    this.running = running;
  }

  cancel(): void {
    this.running?.unsubscribe();
    this.running = undefined;
  }

  private merge(change: Partial<PanelData>): void {
    this.data.next({ ...this.data.value, ...change });
  }
}

/** Asks when it is subscribed to, so that what `query` throws is an error of the answer. */
function ask(dataSource: DataSourceApi, request: DataQueryRequest): Observable<DataQueryResponse> {
  return defer(() => {
    const answer = dataSource.query(request);
    return isObservable(answer) ? answer : from(answer);
  });
}

function buildRequest(dataSource: DataSourceApi, targets: DataQuery[], options: RunOptions): DataQueryRequest {
  const range = resolveRange(options.range);
  const { interval, intervalMs } = rangeUtil.calculateInterval(range, options.maxDataPoints, dataSource.interval);
  return {
    app: CoreApp.Dashboard,
    requestId: `SQR${requests++}`,
    dashboardUID: 'workbench',
    panelId: options.panelId,
    panelName: options.panelTitle,
    panelPluginId: options.panelPluginId,
    timezone: options.timezone,
    range,
    rangeRaw: range.raw,
    interval,
    intervalMs,
    maxDataPoints: options.maxDataPoints,
    scopedVars: {
      __interval: { text: interval, value: interval },
      __interval_ms: { text: String(intervalMs), value: intervalMs },
    },
    targets: structuredClone(targets)
      .filter((target) => !target.hide)
      .filter((target) => dataSource.filterQuery?.(target) ?? true)
      .map((target) => ({ ...target, datasource: dataSource.getRef() })),
    startTime: Date.now(),
  };
}

function combine(parts: DataQueryResponse[], newest: DataQueryResponse, request: DataQueryRequest): PanelData {
  const frames = parts.flatMap((part) => part.data).map(toDataFrame);
  const errors = parts.flatMap((part) => part.errors ?? (part.error ? [part.error] : []));
  return {
    state: errors.length > 0 ? LoadingState.Error : (newest.state ?? LoadingState.Done),
    series: frames.filter((frame) => frame.meta?.dataTopic !== DataTopic.Annotations),
    annotations: frames.filter((frame) => frame.meta?.dataTopic === DataTopic.Annotations),
    error: errors.at(0),
    errors: errors.length > 0 ? errors : undefined,
    request,
    timeRange: resolveRange(request.range.raw),
  };
}

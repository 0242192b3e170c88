import { AppEvents, CustomVariableSupport, DataQueryRequest, DataSourceApi, MetricFindValue } from '@grafana/data';
import { getAppEvents } from '@grafana/runtime';
import { DataQuery } from '@grafana/schema';
import { catchError, defer, EMPTY, map, Observable } from 'rxjs';
import { resolveRange } from './range';

let requests = 1;

/** Asks the data source for the values of a variable, as Grafana does; a failure is shown in the corner. */
export function findValues(dataSource: DataSourceApi, query: DataQuery | undefined): Observable<string[]> {
  const support = dataSource.variables;
  if (!(support instanceof CustomVariableSupport)) {
    return EMPTY;
  }
  return defer(() => support.query(buildRequest(query))).pipe(
    map(({ data }) => (data as MetricFindValue[]).map(({ text }) => text)),
    catchError((error: { message?: string; data?: { message?: string } }) => {
      const text = error.data?.message ?? error.message ?? 'the query failed';
      getAppEvents().publish({ type: AppEvents.alertError.name, payload: [`Templating: ${text}`] });
      return EMPTY;
    })
  );
}

function buildRequest(query: DataQuery | undefined): DataQueryRequest<DataQuery> {
  const range = resolveRange({ from: 'now-5m', to: 'now' });
  return {
    app: 'dashboard',
    requestId: `VAR${requests++}`,
    timezone: 'browser',
    range,
    interval: '1s',
    intervalMs: 1_000,
    scopedVars: {},
    // Grafana hands the query of a new variable over as an empty text.
    targets: [query ?? ('' as unknown as DataQuery)],
    startTime: Date.now(),
  };
}

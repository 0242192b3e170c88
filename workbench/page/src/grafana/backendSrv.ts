import { AppEvents } from '@grafana/data';
import { BackendSrv, BackendSrvRequest, FetchError, FetchResponse, getAppEvents } from '@grafana/runtime';
import { lastValueFrom, Observable } from 'rxjs';

/**
 * Fetches from the host as Grafana's own service does: answers outside 2xx are errors with the parsed body in `data`,
 * a second request of one `requestId` cancels the first, and an error is shown as a toast unless the caller says no.
 */
export class PageBackendSrv implements BackendSrv {
  private readonly running = new Map<string, AbortController>();

  fetch<T>(options: BackendSrvRequest): Observable<FetchResponse<T>> {
    return new Observable((subscriber) => {
      const abort = new AbortController();
      if (options.requestId) {
        this.running.get(options.requestId)?.abort();
        this.running.set(options.requestId, abort);
      }
      send<T>(options, abort.signal)
        .then((answer) => {
          subscriber.next(answer);
          subscriber.complete();
        })
        .catch((error: unknown) => {
          const failure = toFetchError(error, options, abort.signal.aborted);
          showToast(failure);
          subscriber.error(failure);
        })
        .finally(() => {
          if (options.requestId && this.running.get(options.requestId) === abort) {
            this.running.delete(options.requestId);
          }
        });
      return () => abort.abort();
    });
  }

  chunked(): Observable<FetchResponse<Uint8Array | undefined>> {
    throw new Error('the workbench page has no chunked requests');
  }

  async request<T = unknown>(options: BackendSrvRequest): Promise<T> {
    return (await lastValueFrom(this.fetch<T>(options))).data;
  }

  datasourceRequest<T = unknown>(options: BackendSrvRequest): Promise<FetchResponse<T>> {
    return lastValueFrom(this.fetch<T>(options));
  }

  get<T>(url: string, params?: Params, requestId?: string, options?: Partial<BackendSrvRequest>): Promise<T> {
    return this.request<T>({ ...options, method: 'GET', url, params, requestId });
  }

  delete<T>(url: string, data?: unknown, options?: Partial<BackendSrvRequest>): Promise<T> {
    return this.request<T>({ ...options, method: 'DELETE', url, data });
  }

  post<T>(url: string, data?: unknown, options?: Partial<BackendSrvRequest>): Promise<T> {
    return this.request<T>({ ...options, method: 'POST', url, data });
  }

  patch<T>(url: string, data?: unknown, options?: Partial<BackendSrvRequest>): Promise<T> {
    return this.request<T>({ ...options, method: 'PATCH', url, data });
  }

  put<T>(url: string, data?: unknown, options?: Partial<BackendSrvRequest>): Promise<T> {
    return this.request<T>({ ...options, method: 'PUT', url, data });
  }
}

type Params = Record<string, unknown>;

/** An answer outside 2xx, before it gets the shape that Grafana's callers know. */
class Refused extends Error {
  constructor(
    readonly status: number,
    readonly statusText: string,
    readonly data: unknown
  ) {
    super(statusText);
  }
}

async function send<T>(options: BackendSrvRequest, signal: AbortSignal): Promise<FetchResponse<T>> {
  const method = options.method ?? 'GET';
  const hasBody = options.data !== undefined && method !== 'GET';
  const response = await fetch(withParams(options.url, options.params), {
    method,
    signal,
    body: hasBody ? JSON.stringify(options.data) : undefined,
    headers: {
      accept: 'application/json, text/plain, */*',
      'x-grafana-org-id': '1',
      ...(hasBody ? { 'content-type': 'application/json' } : {}),
      ...(options.headers as Record<string, string> | undefined),
    },
  });
  const data = await readBody(response);
  if (!response.ok) {
    throw new Refused(response.status, response.statusText, data);
  }
  const { status, statusText, ok, headers, redirected, type, url } = response;
  return { data: data as T, status, statusText, ok, headers, redirected, type, url, config: options } as FetchResponse<T>;
}

async function readBody(response: Response): Promise<unknown> {
  const text = await response.text();
  if (text === '') {
    return {};
  }
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

function withParams(url: string, params: Params | undefined): string {
  const absolute = url.startsWith('/') || /^https?:/.test(url) ? url : `/${url}`;
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params ?? {})) {
    for (const item of Array.isArray(value) ? value : [value]) {
      if (item !== undefined && item !== null) {
        query.append(name, String(item));
      }
    }
  }
  return query.size === 0 ? absolute : `${absolute}${absolute.includes('?') ? '&' : '?'}${query.toString()}`;
}

function toFetchError(error: unknown, config: BackendSrvRequest, cancelled: boolean): FetchError {
  if (cancelled) {
    return { status: -1, statusText: 'Request was aborted', data: null, cancelled: true, config };
  }
  if (!(error instanceof Refused)) {
    const message = error instanceof Error ? error.message : String(error);
    return { status: 500, statusText: message, message, data: { message }, config };
  }
  return { status: error.status, statusText: error.statusText, data: errorBody(error), config };
}

/** Grafana's callers read `data.message`: a text body and a bare `error` are put there too. */
function errorBody({ status, statusText, data }: Refused): unknown {
  const fallback = statusText || `HTTP ${status}`;
  if (typeof data === 'string') {
    return { message: fallback, error: fallback, response: data };
  }
  const body = data as { message?: string; error?: unknown };
  if (!body.message && typeof body.error === 'string') {
    return { ...body, message: body.error };
  }
  return body;
}

/** Shows a failed request of the page's own API; failed queries are the panel's to show. */
function showToast(failure: FetchError): void {
  const { config, cancelled, status, data } = failure;
  if (cancelled || config.showErrorAlert === false || config.url.includes('/api/ds/query')) {
    return;
  }
  const event = status < 500 ? AppEvents.alertWarning : AppEvents.alertError;
  getAppEvents().publish({ type: event.name, payload: [data?.message ?? failure.statusText ?? 'Request failed'] });
}

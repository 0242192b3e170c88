import { isFetchError } from '@grafana/runtime';

import { isRecord } from './json';

/** Calls a resource; what goes wrong is said in words. */
export async function words<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw resourceError(error);
  }
}

/**
 * Says what went wrong with a call of a resource: the process's own words where it answered, else what Grafana or the
 * network said.
 */
function resourceError(error: unknown): Error {
  if (isFetchError(error)) {
    const body: unknown = error.data;
    for (const key of ['error', 'message'] as const) {
      const text = isRecord(body) ? body[key] : undefined;
      if (typeof text === 'string' && text !== '') {
        return new Error(text);
      }
    }
    return new Error(error.statusText ?? `Grafana answered with status ${error.status}`);
  }
  return error instanceof Error ? error : new Error(String(error));
}

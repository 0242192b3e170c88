import { config } from '@grafana/runtime';

/**
 * Says why a query is too large for Grafana's live connection, or nothing.
 *
 * Grafana closes the connection of the whole page over a message beyond its limit. The message that carries the query
 * holds the address and its own keys beside it.
 */
export function tooLarge(data: object): string | undefined {
  const limit = liveMessageSizeLimit();
  const size = new TextEncoder().encode(JSON.stringify(data)).length;
  if (limit < 0 || size <= limit - ENVELOPE) {
    return undefined;
  }
  return (
    `the query is ${size} bytes long, and Grafana's live connection takes ${limit} less ${ENVELOPE} for its own use: ` +
    'shorten the schema or take it from a schema registry, or have an administrator raise message_size_limit in the ' +
    '[live] section of the Grafana configuration. Until then the rows come with each refresh only, and Latest has none: choose Last N.'
  );
}

/** Grafana names its limit to the browser since it can be set; before, it was fixed. */
function liveMessageSizeLimit(): number {
  const limit: unknown = (config as { liveMessageSizeLimit?: unknown }).liveMessageSizeLimit;
  return typeof limit === 'number' ? limit : 65_536;
}

const ENVELOPE = 1024;

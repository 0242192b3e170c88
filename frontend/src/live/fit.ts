import { FieldType } from '@grafana/data';

/** Turns a value into one that its column can hold; `undefined` is a misfit. */
type Convert = (value: unknown) => unknown;

/**
 * Returns how values of the type `incoming` get into a column that is settled on another type, by the same rule as the
 * process has for one run: a text column takes everything as text, any other column takes its own type only.
 *
 * A process sends one type a column as long as it runs. After a restart it may settle on another one, from other
 * records, and the panel keeps what it has.
 */
export function conversion(settled: FieldType, incoming: FieldType): Convert | undefined {
  if (settled === incoming) {
    return undefined;
  }
  if (settled !== FieldType.string) {
    return () => undefined;
  }
  return incoming === FieldType.time ? timeAsText : asText;
}

function timeAsText(value: unknown): unknown {
  return typeof value === 'number' && Number.isFinite(value) ? new Date(value).toISOString() : undefined;
}

function asText(value: unknown): unknown {
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

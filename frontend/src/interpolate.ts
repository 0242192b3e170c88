import { type KafkaQuery } from './types';

/** Every key of a query whose text a person writes. */
const TEXTS = [
  'topicName',
  'alias',
  'avroSchema',
  'protobufSchema',
  'lineProtocolMeasurements',
  'lineProtocolFields',
  'lineProtocolTags',
  'timeField',
  'subject',
  'avroReaderSchema',
  'protobufMessage',
  'keySchema',
  'keyProtobufMessage',
] as const satisfies ReadonlyArray<keyof KafkaQuery>;

/**
 * Fills the template variables in.
 *
 * A partition or a count that is a whole number afterwards becomes one; other text stays, for the process to name what
 * is wrong with it.
 */
export function interpolate(query: KafkaQuery, replace: (text: string) => string): KafkaQuery {
  const filled: KafkaQuery = { ...query };
  for (const key of TEXTS) {
    const text = query[key];
    if (typeof text === 'string') {
      filled[key] = key === 'topicName' ? replace(text).trim() : replace(text);
    }
  }
  if (typeof query.partition === 'string') {
    filled.partition = wholeNumber(replace(query.partition));
  }
  if (typeof query.lastN === 'string') {
    filled.lastN = wholeNumber(replace(query.lastN));
  }
  if (query.fieldTypes) {
    filled.fieldTypes = Object.fromEntries(
      Object.entries(query.fieldTypes).map(([name, type]) => [replace(name), replace(type) as typeof type])
    );
  }
  return filled;
}

function wholeNumber(text: string): string | number {
  const trimmed = text.trim();
  return /^\d{1,10}$/.test(trimmed) ? Number(trimmed) : trimmed;
}

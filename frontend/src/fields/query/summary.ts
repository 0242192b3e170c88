import { type KafkaQuery } from '../../types';
import { flag } from '../parts/lenient';

/** Says what a query has set among the options that stay folded away. */
export function summary(query: KafkaQuery): string[] {
  const types = Object.keys(query.fieldTypes ?? {});
  const recordColumns = { auto: '', always: 'partition and offset shown', never: 'partition and offset hidden' };
  return [
    query.alias ? `alias ${query.alias}` : '',
    recordColumns[query.recordColumns ?? 'always'],
    types.length === 0 ? '' : `types of ${types.join(', ')}`,
    query.isolationLevel === 'readUncommitted' ? 'uncommitted records too' : '',
    !flag(query.pacing, true) ? 'not paced' : '',
    flag(query.everyRecord) ? 'every record' : '',
  ].filter((text) => text !== '');
}

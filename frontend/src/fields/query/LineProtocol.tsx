import { type SelectableValue } from '@grafana/data';
import React from 'react';

import { type KafkaQuery, type LineProtocolLayout, type LineProtocolPrecision } from '../../types';
import { Choice } from '../parts/Choice';
import { text } from '../parts/lenient';
import { TextField } from '../parts/TextField';
import { type GroupProps } from './edit';

const LAYOUTS: Array<SelectableValue<LineProtocolLayout>> = [
  { label: 'Long', value: 'long', description: 'One row a field, with its name and tags in columns of their own' },
  { label: 'Wide', value: 'wide', description: 'One column a field and set of tags, ready for a time series' },
];
const PRECISIONS: Array<SelectableValue<LineProtocolPrecision>> = [
  { label: 'Automatic', value: 'auto', description: 'By the size of the number' },
  { label: 'Nanoseconds', value: 'ns' },
  { label: 'Microseconds', value: 'us' },
  { label: 'Milliseconds', value: 'ms' },
  { label: 'Seconds', value: 's' },
];

type Filter = 'lineProtocolMeasurements' | 'lineProtocolFields' | 'lineProtocolTags';

const FILTERS: Array<{ key: Filter; label: string; help: string; placeholder: string }> = [
  {
    key: 'lineProtocolMeasurements',
    label: 'Measurements',
    help: 'Which measurements are shown: names or regular expressions for the whole name, with commas between them. Empty shows all.',
    placeholder: 'cpu, disk.*',
  },
  {
    key: 'lineProtocolFields',
    label: 'Fields',
    help: 'Which fields are shown: names or regular expressions for the whole name, with commas between them. Empty shows all.',
    placeholder: 'usage_.*, free',
  },
  {
    key: 'lineProtocolTags',
    label: 'Tags',
    help: 'Which lines are shown by their tags: tag=value, with commas between them, where the value may be a regular expression. Several of one tag are alternatives; each tag named has to fit.',
    placeholder: 'host=web-.*, region=eu',
  },
];

/** How line protocol becomes columns, and which of it is shown. */
export function LineProtocol({ query, edit }: GroupProps) {
  return (
    <>
      <Choice<LineProtocolLayout>
        label="Layout"
        help="Long makes one row of each field, as tables and transformations like it. Wide makes one column of each measurement and field, with the tags as labels, so that a time series panel needs no transformation."
        value={query.lineProtocolLayout ?? 'long'}
        options={LAYOUTS}
        onCommit={(lineProtocolLayout) => edit({ lineProtocolLayout })}
        width={14}
      />
      <Choice<LineProtocolPrecision>
        label="Precision"
        help="What the timestamps of the lines count since 1970. Automatic decides by their size. A line without a timestamp has the time of its record."
        value={precisionOf(query)}
        options={PRECISIONS}
        onCommit={(lineProtocolTimestampPrecision) => edit({ lineProtocolTimestampPrecision })}
        width={18}
      />
      {FILTERS.map(({ key, ...field }) => (
        <TextField
          {...field}
          key={key}
          value={text(query[key])}
          onCommit={(filter) => edit({ [key]: filter === '' ? undefined : filter })}
          width={26}
        />
      ))}
    </>
  );
}

/** `µs` is another spelling of `us`. */
function precisionOf({ lineProtocolTimestampPrecision: saved = 'auto' }: KafkaQuery): LineProtocolPrecision {
  return /^[µμ]s$/.test(saved) ? 'us' : saved;
}

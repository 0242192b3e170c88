import { CoreApp, type DataFrame, type Field, FieldType, type QueryResultMetaNotice } from '@grafana/data';

import { type KafkaQuery, type RecordColumns } from '../types';
import { type Column, type Columns, ERROR, OFFSET, PARTITION, type Selection, TIME } from './columns';

/** How one panel's query shows the rows of a session. */
export interface Look {
  refId: string;
  alias?: string;
  topic: string;
  /** As the query has it: a number, or `all`. */
  partition: string;
  /** Whether `partition` and `offset` are shown. */
  recordColumns: boolean;
}

/** The panels that draw a series for each number, so that an offset sets the scale of everything beside it. */
const PLOTS_NUMBERS = new Set([
  'barchart',
  'bargauge',
  'candlestick',
  'gauge',
  'graph',
  'heatmap',
  'histogram',
  'piechart',
  'stat',
  'state-timeline',
  'status-history',
  'timeseries',
  'trend',
  'xychart',
]);

/** Where a query is shown, as its request says. */
export interface Place {
  app?: string;
  /** The panel's type. Grafana 10.2 does not give it. */
  panelPluginId?: string;
}

/** Returns the look of a query whose variables are filled in. */
export function look(query: KafkaQuery, place: Place): Look {
  return {
    refId: query.refId,
    alias: query.alias,
    topic: query.topicName,
    partition: String(query.partition ?? 'all'),
    recordColumns: showsRecordColumns(query.recordColumns, place),
  };
}

function showsRecordColumns(mode: RecordColumns | undefined, { app, panelPluginId }: Place): boolean {
  switch (mode) {
    case 'never':
      return false;
    case 'auto':
      // A panel of a type that nobody tells is most likely a time series, which is what Grafana begins with.
      return app === CoreApp.Explore || (panelPluginId !== undefined && !PLOTS_NUMBERS.has(panelPluginId));
    default:
      return true;
  }
}

/** Makes the frame of one panel: new arrays, in time order. */
export function toFrame(
  columns: Columns,
  selection: Selection,
  look: Look,
  notices: QueryResultMetaNotice[]
): DataFrame {
  const order = timeOrder(pick(columns.column(TIME), selection));
  const shown = columns.all.filter(({ name }) => look.recordColumns || (name !== PARTITION && name !== OFFSET));
  const fields = shown.map((column) => {
    const values = pick(column, selection);
    return toField(column, order ? order.map((row) => values[row]) : values, look);
  });
  return {
    name: frameName(look),
    refId: look.refId,
    fields,
    length: fields[0]?.values.length ?? 0,
    meta: notices.length > 0 ? { notices } : {},
  };
}

/** Gives the frame of an answer the same look, where there is no stream behind it. */
export function dress(frame: DataFrame, look: Look, notices: QueryResultMetaNotice[] = []): DataFrame {
  const fields = frame.fields
    .filter(({ name }) => look.recordColumns || (name !== PARTITION && name !== OFFSET))
    .map((field) => ({ ...field, config: { ...field.config, ...displayName(field.name, field.type, look) } }));
  const meta = { ...frame.meta, notices: [...(frame.meta?.notices ?? []), ...notices] };
  return { ...frame, name: frameName(look), refId: look.refId, fields, meta };
}

function frameName(look: Look): string {
  return look.alias ? format(look.alias, look, '') : look.topic;
}

function toField({ name, type, labels, config }: Column, values: unknown[], look: Look): Field {
  return { name, type, ...(labels && { labels }), config: { ...config, ...displayName(name, type, look) }, values };
}

/** An alias names the columns of the payload; time and the record's coordinates keep their own names. */
function displayName(name: string, type: FieldType, look: Look): { displayNameFromDS?: string } {
  const own = name === PARTITION || name === OFFSET || name === ERROR || (name === TIME && type === FieldType.time);
  return look.alias && !own ? { displayNameFromDS: format(look.alias, look, name) } : {};
}

function format(alias: string, { topic, partition, refId }: Look, field: string): string {
  const parts: Record<string, string> = { topic, partition, refid: refId, field };
  return alias.replace(/\{\{(topic|partition|refid|field)\}\}/g, (_, part: string) => parts[part] ?? '');
}

function pick(column: Column | undefined, { earlier, start }: Selection): unknown[] {
  const rest = column?.values.slice(start) ?? [];
  return earlier.length === 0 ? rest : [...earlier.map((row) => column?.values[row]), ...rest];
}

/** Returns the rows in time order, those of one time as they came; nothing where they are in order already. */
function timeOrder(times: unknown[]): number[] | undefined {
  let last = -Infinity;
  let broken = false;
  // A row without a time stays behind the one that it followed.
  const keys = times.map((time) => {
    const key = typeof time === 'number' ? time : last;
    broken ||= key < last;
    last = key;
    return key;
  });
  if (!broken) {
    return undefined;
  }
  return keys.map((_, row) => row).sort((a, b) => (keys[a] ?? 0) - (keys[b] ?? 0));
}

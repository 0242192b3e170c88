/** Packets and answers as the process writes them. */
import { type DataFrameJSON, type QueryResultMetaNotice } from '@grafana/data';

import { type LiveLink } from '../../src/live/packet';

/** A column: its name, its Grafana type, and its values. */
export type TestColumn = [name: string, type: 'time' | 'number' | 'string' | 'boolean', values: unknown[]];

export interface PacketOptions {
  topicId?: string;
  run?: string;
  notices?: QueryResultMetaNotice[];
  live?: LiveLink;
}

/** Makes a packet of columns, with entities for the numbers that JSON has none for. */
export function packet(columns: TestColumn[], { topicId = 'T1', run, notices, live }: PacketOptions = {}): DataFrameJSON {
  const custom = { topicId, ...(run !== undefined && { run }), ...(live && { live }) };
  return {
    schema: {
      name: 'orders',
      meta: { custom, ...(notices && { notices }) },
      fields: columns.map(([name, type]) => ({ name, type, typeInfo: { frame: FRAME_TYPES[type] } })) as never,
    },
    data: {
      values: columns.map(([, , values]) => values.map((value) => (Number.isFinite(value) || typeof value !== 'number' ? value : null))),
      entities: columns.map(([, , values]) => entities(values)),
    },
  };
}

/** Makes a packet of records of one partition: a `v` for each offset, and the offset in seconds as the time. */
export function records(offsets: number[], { partition = 0, ...options }: PacketOptions & { partition?: number } = {}) {
  return packet(
    [
      ['time', 'time', offsets.map((offset) => offset * 1000)],
      ['partition', 'number', offsets.map(() => partition)],
      ['offset', 'number', offsets],
      ['v', 'number', offsets.map((offset) => offset * 10)],
    ],
    options
  );
}

function entities(values: unknown[]) {
  const at = (match: (value: unknown) => boolean) => values.flatMap((value, row) => (match(value) ? row : []));
  const found = {
    NaN: at(Number.isNaN),
    Inf: at((value) => value === Infinity),
    NegInf: at((value) => value === -Infinity),
  };
  return Object.values(found).some((rows) => rows.length > 0) ? found : null;
}

const FRAME_TYPES = { time: 'time.Time', number: 'float64', string: 'string', boolean: 'bool' };

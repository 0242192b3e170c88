import { type FieldType } from '@grafana/data';

import { type Cursor } from '../types';
import { conversion } from './fit';
import { type Packet, type PacketField, type SeriesLook } from './packet';

export const TIME = 'time';
export const PARTITION = 'partition';
export const OFFSET = 'offset';
export const ERROR = '_error';

export interface Column extends SeriesLook {
  readonly name: string;
  /** The type that the session first saw under this name. */
  readonly type: FieldType;
  readonly values: unknown[];
  /** How many values did not fit the type and are empty. */
  misfits: number;
}

/** Which rows to keep. */
export interface Retention {
  /** At least the newest of this many. */
  rows: number;
  /** And the newest records of each partition, of this many; 0 for none. */
  recordsPerPartition: number;
}

/** Which rows are shown: those from `start` on, and before it those in `earlier`, in ascending order. */
export interface Selection {
  earlier: number[];
  start: number;
}

export interface Appended {
  /** Rows that are new. */
  rows: number;
  /** Whether there were records and every one of them had been seen: the run started over. */
  replayed: boolean;
}

/**
 * The rows of a session in the order of their arrival, column by column.
 *
 * It only ever gains columns: a packet that lacks one leaves nulls there, a packet that brings one leaves nulls before.
 * Grafana's own `StreamingDataFrame` gives up what a column held when the schema of a later packet lacks it.
 */
export class Columns {
  private readonly list: Column[] = [];
  private readonly arrivals: number[] = [];
  /** Topic id to partition to the last offset seen. */
  private readonly seen = new Map<string, Map<number, number>>();
  private topicId: string | undefined;

  get length(): number {
    return this.arrivals.length;
  }

  get all(): readonly Column[] {
    return this.list;
  }

  column(name: string): Column | undefined {
    return this.list.find((column) => column.name === name);
  }

  /** Adds the rows that are new, and says what it found. `now` is in milliseconds. */
  append(packet: Packet, now: number): Appended {
    const fresh = this.freshRows(packet);
    this.grow(packet.fields);
    const fields = new Map(packet.fields.map((field) => [field.name, field]));
    for (const column of this.list) {
      push(column, fields.get(column.name), fresh.rows);
    }
    for (let i = 0; i < fresh.rows.length; i++) {
      this.arrivals.push(now);
    }
    return { rows: fresh.rows.length, replayed: fresh.known > 0 && fresh.unknown === 0 };
  }

  /**
   * Returns where to go on: behind the last record seen of each partition, and never before the position that the stream
   * was started with.
   */
  cursor(started?: Cursor): Cursor {
    const topicId = this.topicId ?? started?.topicId;
    const next: Record<string, number> = {};
    if (started && started.topicId === topicId) {
      Object.assign(next, started.next);
    }
    for (const [partition, offset] of this.seen.get(topicId ?? '') ?? []) {
      next[partition] = Math.max(next[partition] ?? 0, offset + 1);
    }
    return topicId === undefined ? { next } : { topicId, next };
  }

  /** Picks the rows to show; `since` is the earliest arrival, in milliseconds. */
  select({ rows, recordsPerPartition }: Retention, since = -Infinity): Selection {
    let start = Math.max(0, this.length - rows);
    if (since > (this.arrivals[start] ?? Infinity)) {
      start = firstAtOrAfter(this.arrivals, since);
    }
    return { start, earlier: recordsPerPartition > 0 ? this.lastRecords(recordsPerPartition, start) : [] };
  }

  /** Drops what no panel keeps. It waits until a quarter is too much, so that a row is moved only a few times. */
  trim(retention: Retention): void {
    const slack = Math.max(100, retention.rows / 4);
    if (this.length < retention.rows + slack) {
      return;
    }
    const { start, earlier } = this.select(retention);
    if (start - earlier.length < slack) {
      return;
    }
    for (const column of this.list) {
      keep(column.values, earlier, start);
    }
    keep(this.arrivals, earlier, start);
  }

  /** Returns the moment at which the first of these rows arrived, in milliseconds. */
  firstArrival({ earlier, start }: Selection): number | undefined {
    return this.arrivals[earlier[0] ?? start];
  }

  /**
   * Finds the rows that have no offset or one above all that were seen before this packet, and counts the records that
   * were known and unknown.
   */
  private freshRows({ fields, length, topicId }: Packet): { rows: number[]; known: number; unknown: number } {
    const seen = this.seenOf(length > 0 ? topicId : undefined);
    const before = new Map(seen);
    const partitions = valuesOf(fields, PARTITION);
    const offsets = valuesOf(fields, OFFSET);
    const found = { rows: [] as number[], known: 0, unknown: 0 };
    for (let row = 0; row < length; row++) {
      const partition = partitions?.[row];
      const offset = offsets?.[row];
      if (typeof partition === 'number' && typeof offset === 'number') {
        if (offset <= (before.get(partition) ?? -1)) {
          found.known++;
          continue;
        }
        found.unknown++;
        seen.set(partition, Math.max(offset, seen.get(partition) ?? -1));
      }
      found.rows.push(row);
    }
    return found;
  }

  /** Returns the offsets seen of a topic, which is the present one from now on. */
  private seenOf(topicId = this.topicId): Map<number, number> {
    let seen = this.seen.get(topicId ?? '');
    if (!seen) {
      // Rows that came before the topic had an id are of the same topic.
      seen = (this.topicId === undefined ? this.seen.get('') : undefined) ?? new Map<number, number>();
      this.seen.set(topicId ?? '', seen);
    }
    this.topicId = topicId;
    return seen;
  }

  /** Takes in the columns that are new, each behind the one that it follows in the packet; `_error` stays last. */
  private grow(fields: PacketField[]): void {
    let behind = -1;
    for (const { name, type, labels, config } of fields) {
      const known = this.list.findIndex((column) => column.name === name);
      if (known >= 0) {
        behind = known;
        continue;
      }
      const last = this.list.length - (this.list.at(-1)?.name === ERROR ? 1 : 0);
      behind = name === ERROR ? this.list.length : Math.min(behind + 1, last);
      const values: unknown[] = new Array(this.length).fill(null);
      this.list.splice(behind, 0, { name, type, values, misfits: 0, ...(labels && { labels, config }) });
    }
  }

  /** Finds the rows before `end` that belong to the newest `count` records of their partition. */
  private lastRecords(count: number, end: number): number[] {
    const partitions = this.column(PARTITION)?.values;
    const offsets = this.column(OFFSET)?.values;
    const met = new Map<unknown, { records: number; offset: unknown }>();
    const rows: number[] = [];
    for (let row = this.length - 1; row >= 0; row--) {
      const partition = partitions?.[row];
      const offset = offsets?.[row];
      if (offset == null) {
        continue;
      }
      const found = met.get(partition) ?? { records: 0, offset: undefined };
      if (found.offset !== offset) {
        met.set(partition, { records: found.records + 1, offset });
      }
      if (row < end && (met.get(partition)?.records ?? 0) <= count) {
        rows.push(row);
      }
    }
    return rows.reverse();
  }
}

function push(column: Column, field: PacketField | undefined, rows: number[]): void {
  const convert = field && conversion(column.type, field.type);
  for (const row of rows) {
    const value = field?.values[row] ?? null;
    if (value === null || !convert) {
      column.values.push(value);
      continue;
    }
    const converted = convert(value);
    column.misfits += converted === undefined ? 1 : 0;
    column.values.push(converted ?? null);
  }
}

function keep(values: unknown[], earlier: number[], start: number): void {
  earlier.forEach((from, to) => (values[to] = values[from]));
  values.splice(earlier.length, start - earlier.length);
}

function valuesOf(fields: PacketField[], name: string): readonly unknown[] | undefined {
  return fields.find((field) => field.name === name)?.values;
}

/** Finds the first index whose value is at least `limit`, in ascending values. */
function firstAtOrAfter(values: number[], limit: number): number {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((values[middle] ?? Infinity) < limit) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

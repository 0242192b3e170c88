/** What arrives, whichever way: one packet of a stream, or one frame of an answer. */
import {
  type DataFrame,
  dataFrameFromJSON,
  type DataFrameJSON,
  type FieldConfig,
  type FieldType,
  type Labels,
  type QueryResultMetaNotice,
} from '@grafana/data';

import { isRecord } from '../json';
import { type Cursor } from '../types';

/** What a series is called and how it is drawn; other columns have nothing of it. */
export interface SeriesLook {
  labels?: Labels;
  config?: FieldConfig;
}

export interface PacketField extends SeriesLook {
  name: string;
  type: FieldType;
  /** Borrowed: Grafana may hold them too. */
  values: readonly unknown[];
}

export interface Packet {
  fields: PacketField[];
  /** Rows, the same number in every field. */
  length: number;
  /** The id of the topic that the rows come from, where the brokers give one. */
  topicId?: string;
  /** Names the run that sent it: another name is a stream that was started anew. */
  run?: string;
  notices: QueryResultMetaNotice[];
}

/** Where the rows that follow an answer can be had. Made and checked by the process alone. */
export interface LiveLink {
  /** The channel's path: a digest of `data`. */
  path: string;
  /** The query as the process read it, with its defaults, and where the stream starts. */
  data: LiveData;
  /** The digest without the start: equal for all streams that show the same. */
  key: string;
}

export interface LiveData extends Record<string, unknown> {
  autoOffsetReset?: unknown;
  lastN?: unknown;
  cursor?: Cursor;
}

/** Reads a packet of a stream, or nothing where it has no fields. */
export function packetFromJSON(json: unknown): Packet | undefined {
  if (!isRecord(json) || !isRecord(json.schema) || !Array.isArray(json.schema.fields)) {
    return undefined;
  }
  const { schema, data } = json as DataFrameJSON;
  // Entities are put in place, and Grafana keeps the last message as it came for those who join later.
  const values = data?.values.map((values, column) => (data.entities?.[column] ? [...values] : values));
  return packetFromFrame(dataFrameFromJSON({ schema, data: data && values && { ...data, values } }));
}

export function packetFromFrame(frame: DataFrame): Packet {
  const fields = frame.fields.map(({ name, type, values, labels, config }) => ({
    name,
    type,
    values: values as unknown[],
    ...(labels && { labels, config }),
  }));
  const text = (value: unknown) => (typeof value === 'string' ? value : undefined);
  return {
    fields,
    length: fields.length === 0 ? 0 : Math.min(...fields.map(({ values }) => values.length)),
    topicId: text(frame.meta?.custom?.topicId),
    run: text(frame.meta?.custom?.run),
    notices: frame.meta?.notices ?? [],
  };
}

/** Finds the link to the stream in the frame of an answer. */
export function liveLink(frame: DataFrame | undefined): LiveLink | undefined {
  const link: unknown = frame?.meta?.custom?.live;
  if (!isRecord(link) || typeof link.path !== 'string' || typeof link.key !== 'string' || !isRecord(link.data)) {
    return undefined;
  }
  return { path: link.path, key: link.key, data: link.data };
}

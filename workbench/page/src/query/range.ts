import { dateMath, DateTime, dateTime, RawTimeRange, TimeRange } from '@grafana/data';

/** Works out what a range means at this moment: `now-5m` moves on, an absolute time stays. */
export function resolveRange(raw: RawTimeRange): TimeRange {
  return { from: resolve(raw.from, false), to: resolve(raw.to, true), raw };
}

function resolve(time: DateTime | string, roundUp: boolean): DateTime {
  return (typeof time === 'string' ? dateMath.parse(time, roundUp) : time) ?? dateTime();
}

/** The range between two moments, in milliseconds since the epoch. */
export function absoluteRange(from: number, to: number): TimeRange {
  return resolveRange({ from: dateTime(from), to: dateTime(to) });
}

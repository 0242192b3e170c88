import { FieldType } from '@grafana/data';

import { Columns } from './columns';
import { type Packet } from './packet';

/** Records of partition 0 with a value; an offset of null is a row of the run's own. */
function records(offsets: Array<number | null>, { topicId = 'T' as string | undefined, partition = 0 } = {}): Packet {
  return {
    length: offsets.length,
    topicId,
    notices: [],
    fields: [
      { name: 'partition', type: FieldType.number, values: offsets.map((offset) => (offset === null ? null : partition)) },
      { name: 'offset', type: FieldType.number, values: offsets },
    ],
  };
}

const offsets = (columns: Columns) => columns.column('offset')?.values;

describe('append', () => {
  it.each<[string, Packet[], Array<number | null>, boolean]>([
    ['nothing twice', [records([1, 2]), records([2, 3])], [1, 2, 3], false],
    ['the rows of one record', [records([1, 1, 1]), records([1, 2])], [1, 1, 1, 2], false],
    ['rows without an offset', [records([null]), records([null, 1]), records([null])], [null, null, 1, null], false],
    ['a run that starts over', [records([1, 2, 3]), records([1, 2])], [1, 2, 3], true],
    ['a run that starts over with a row of its own', [records([1, 2]), records([null, 1])], [1, 2, null], true],
    ['another topic id', [records([5, 6]), records([0], { topicId: 'U' })], [5, 6, 0], false],
    ['no topic id, then one', [records([1], { topicId: undefined }), records([1, 2])], [1, 2], false],
    ['an empty packet', [records([1]), records([])], [1], false],
  ])('%s', (_, packets, expected, replayed) => {
    const columns = new Columns();
    const appended = packets.map((packet) => columns.append(packet, 0));
    expect(offsets(columns)).toEqual(expected);
    expect(appended.at(-1)?.replayed).toBe(replayed);
    expect(appended.reduce((rows, one) => rows + one.rows, 0)).toBe(expected.length);
  });

  it('tells the partitions apart', () => {
    const columns = new Columns();
    columns.append(records([4]), 0);
    columns.append(records([3, 4], { partition: 1 }), 0);
    expect(offsets(columns)).toEqual([4, 3, 4]);
    expect(columns.cursor()).toEqual({ topicId: 'T', next: { 0: 5, 1: 5 } });
  });
});

describe('series', () => {
  it('keep their labels and how they are drawn, whichever packet they come with', () => {
    const columns = new Columns();
    const series = (host: string): Packet => ({
      length: 1,
      notices: [],
      fields: [
        { name: `cpu.v{host=${host}}`, type: FieldType.number, values: [1], labels: { host }, config: { custom: { spanNulls: true } } },
      ],
    });
    columns.append(series('a'), 0);
    columns.append(series('b'), 0);
    const shown = columns.all.map(({ name, labels, config, values }) => ({ name, labels, config, values }));
    expect(shown).toEqual([
      { name: 'cpu.v{host=b}', labels: { host: 'b' }, config: { custom: { spanNulls: true } }, values: [null, 1] },
      { name: 'cpu.v{host=a}', labels: { host: 'a' }, config: { custom: { spanNulls: true } }, values: [1, null] },
    ]);
  });
});

describe('cursor', () => {
  it.each([
    ['nothing came', [], { topicId: 'T', next: { 0: 7, 1: 3 } }],
    ['a partition is ahead', [records([7, 8])], { topicId: 'T', next: { 0: 9, 1: 3 } }],
    ['the start is ahead, over records that never show', [records([2])], { topicId: 'T', next: { 0: 7, 1: 3 } }],
    ['the topic was made anew', [records([8]), records([0], { topicId: 'U' })], { topicId: 'U', next: { 0: 1 } }],
  ])('%s', (_, packets, expected) => {
    const columns = new Columns();
    packets.forEach((packet) => columns.append(packet, 0));
    expect(columns.cursor({ topicId: 'T', next: { 0: 7, 1: 3 } })).toEqual(expected);
  });
});

describe('select', () => {
  it('takes the newest rows, and of those before them the records that each partition is to keep', () => {
    const columns = new Columns();
    columns.append(records([1, 2, 2, 3], { partition: 1 }), 10);
    columns.append(records([10, 11, 12]), 20);
    expect(columns.select({ rows: 2, recordsPerPartition: 0 })).toEqual({ start: 5, earlier: [] });
    expect(columns.select({ rows: 2, recordsPerPartition: 2 })).toEqual({ start: 5, earlier: [1, 2, 3] });
    expect(columns.select({ rows: 9, recordsPerPartition: 0 }, 15)).toEqual({ start: 4, earlier: [] });
    expect(columns.select({ rows: 9, recordsPerPartition: 0 }, 30)).toEqual({ start: 7, earlier: [] });
  });
});

describe('trim', () => {
  it.each([
    [0, 10],
    [3, 13],
  ])('with %i records a partition keeps %i rows', (recordsPerPartition, rows) => {
    const columns = new Columns();
    const retention = { rows: 10, recordsPerPartition };
    columns.append(records([1, 2, 3], { partition: 1 }), 0);
    for (let offset = 0; offset < 1000; offset++) {
      columns.append(records([offset]), offset);
      columns.trim(retention);
      expect(columns.length).toBeLessThan(10 + 3 + 101);
    }
    const { start, earlier } = columns.select(retention);
    const kept = [...earlier, ...Array.from({ length: columns.length - start }, (_, i) => start + i)];
    expect(kept).toHaveLength(rows);
    expect(kept.map((row) => offsets(columns)?.[row])).toEqual([
      ...(recordsPerPartition > 0 ? [1, 2, 3] : []),
      ...Array.from({ length: 10 }, (_, i) => 990 + i),
    ]);
    expect(columns.all.every(({ values }) => values.length === columns.length)).toBe(true);
  });
});

describe('a column', () => {
  const of = (type: FieldType, value: unknown): Packet => ({ length: 1, notices: [], fields: [{ name: 'c', type, values: [value] }] });

  it.each([
    [FieldType.string, FieldType.number, 1.5, '1.5', 0],
    [FieldType.string, FieldType.boolean, true, 'true', 0],
    [FieldType.string, FieldType.time, 0, '1970-01-01T00:00:00.000Z', 0],
    [FieldType.string, FieldType.time, Infinity, null, 1],
    [FieldType.string, FieldType.other, { a: [1] }, '{"a":[1]}', 0],
    [FieldType.string, FieldType.number, null, null, 0],
    [FieldType.number, FieldType.string, '1', null, 1],
    [FieldType.number, FieldType.boolean, true, null, 1],
    [FieldType.number, FieldType.number, NaN, NaN, 0],
    [FieldType.boolean, FieldType.number, 1, null, 1],
    [FieldType.time, FieldType.number, 1, null, 1],
    [FieldType.number, FieldType.string, null, null, 0],
  ])('of %s, given %s %j, holds %j', (settled, incoming, value, held, misfits) => {
    const columns = new Columns();
    columns.append(of(settled, null), 0);
    columns.append(of(incoming, value), 0);
    expect(columns.column('c')).toEqual({ name: 'c', type: settled, values: [null, held], misfits });
  });
});

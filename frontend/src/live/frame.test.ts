import { CoreApp, createDataFrame, FieldType } from '@grafana/data';

import { type KafkaQuery, type RecordColumns } from '../types';
import { Columns } from './columns';
import { dress, look, toFrame } from './frame';
import { packetFromFrame } from './packet';

const query: KafkaQuery = { refId: 'A', topicName: 'orders' };

/** Rows as they come: time, partition, offset, a value and an error. */
function columns(times: Array<number | null>): Columns {
  const columns = new Columns();
  const frame = createDataFrame({
    fields: [
      { name: 'time', type: FieldType.time, values: times },
      { name: 'partition', type: FieldType.number, values: times.map(() => 0) },
      { name: 'offset', type: FieldType.number, values: times.map((_, row) => row) },
      { name: 'v', type: FieldType.number, values: times.map((_, row) => row * 10) },
      { name: '_error', type: FieldType.string, values: times.map(() => null) },
    ],
  });
  columns.append(packetFromFrame(frame), 0);
  return columns;
}

const all = { start: 0, earlier: [] };

describe('partition and offset', () => {
  it.each<[RecordColumns | undefined, string | undefined, CoreApp, boolean]>([
    [undefined, 'timeseries', CoreApp.Dashboard, true],
    ['always', 'timeseries', CoreApp.Dashboard, true],
    ['never', 'table', CoreApp.Dashboard, false],
    ['auto', 'timeseries', CoreApp.Dashboard, false],
    ['auto', 'stat', CoreApp.PanelEditor, false],
    ['auto', 'table', CoreApp.Dashboard, true],
    ['auto', 'logs', CoreApp.Dashboard, true],
    ['auto', undefined, CoreApp.Dashboard, false],
    ['auto', undefined, CoreApp.Explore, true],
  ])('%s in %s of %s: %s', (recordColumns, panelPluginId, app, shown) => {
    const { fields } = toFrame(columns([1]), all, look({ ...query, recordColumns }, { app, panelPluginId }), []);
    expect(fields.map(({ name }) => name)).toEqual(
      shown ? ['time', 'partition', 'offset', 'v', '_error'] : ['time', 'v', '_error']
    );
  });
});

describe('an alias', () => {
  it.each([
    [undefined, 'all', 'orders', undefined],
    ['', 'all', 'orders', undefined],
    ['mine', 'all', 'mine', 'mine'],
    ['{{topic}}/{{partition}} {{refid}}: {{field}}', 3, 'orders/3 A: ', 'orders/3 A: v'],
    ['{{partition}}', 'all', 'all', 'all'],
    ['{{Topic}} {{x}}', undefined, '{{Topic}} {{x}}', '{{Topic}} {{x}}'],
  ])('%s of partition %s', (alias, partition, name, value) => {
    const shown = look({ ...query, alias, partition }, { app: CoreApp.Explore });
    const streamed = toFrame(columns([1]), all, shown, []);
    const still = dress(streamed, shown);
    for (const frame of [streamed, still]) {
      expect(frame.name).toBe(name);
      expect(frame.fields.map(({ config }) => config.displayNameFromDS)).toEqual([undefined, undefined, undefined, value, undefined]);
    }
  });
});

describe('time order', () => {
  it.each([
    [[1, 2, 2, 3], [0, 10, 20, 30]],
    [[3, 1, 2], [10, 20, 0]],
    [[2, 1, 2, 1], [10, 30, 0, 20]],
    [[5, null, 1], [20, 0, 10]],
    [[null, 1], [0, 10]],
  ])('%j', (times, values) => {
    const frame = toFrame(columns(times), all, look(query, {}), []);
    expect(frame.fields[3]?.values).toEqual(values);
    expect(frame.length).toBe(times.length);
  });
});

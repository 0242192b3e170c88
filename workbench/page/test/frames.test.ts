import { DataFrame, DataFrameJSON, DataQueryResponse, FieldType } from '@grafana/data';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BehaviorSubject, Subject } from 'rxjs';
import { LiveChannel } from '../src/live/channel';
import { LiveFrames } from '../src/live/frames';

const schema = {
  fields: [
    { name: 'time', type: FieldType.time },
    { name: 'n', type: FieldType.number },
  ],
};
const rows = (...numbers: number[]): DataFrameJSON => ({
  schema,
  data: { values: [numbers.map((n) => 1_000 * n), numbers] },
});

function openFrames() {
  const events = new Subject<unknown>();
  const channel = { listen: () => events } as unknown as LiveChannel;
  const ready = new BehaviorSubject(true);
  const frames = new LiveFrames(channel, ready, () => undefined);
  const follow = (maxLength: number, frame?: DataFrameJSON) => {
    const seen: DataQueryResponse[] = [];
    frames.listen({ addr: {} as never, frame, buffer: { maxLength } }).subscribe((answer) => seen.push(answer));
    return { seen, numbers: () => [...(seen.at(-1)?.data.at(0) as DataFrame).fields[1].values] as number[] };
  };
  const send = (message: DataFrameJSON) => events.next({ type: 'message', message });
  return { events, ready, follow, send };
}

test('appends packets to what the query answered, up to what the panel wants', () => {
  const { follow, send } = openFrames();
  const panel = follow(3, rows(1));
  send(rows(2));
  send(rows(3, 4));
  assert.deepEqual(panel.numbers(), [2, 3, 4]);
  assert.ok(panel.seen.every(({ state, key }) => state === 'Streaming' && key === panel.seen[0].key));
});

test('keeps one buffer for all panels, as long as the longest wants it', () => {
  const { follow, send } = openFrames();
  const [short, long] = [follow(2, rows(1)), follow(4, rows(9))];
  send(rows(2, 3));
  send(rows(4));
  assert.deepEqual([short.numbers(), long.numbers()], [[1, 2, 3, 4], [1, 2, 3, 4]]);
});

test('holds packets back while the main thread is late', () => {
  const { follow, send, ready } = openFrames();
  const panel = follow(9, rows(1));
  const before = panel.seen.length;
  ready.next(false);
  send(rows(2));
  send(rows(3));
  assert.equal(panel.seen.length, before);
  ready.next(true);
  assert.equal(panel.seen.length, before + 1);
  assert.deepEqual(panel.numbers(), [1, 2, 3]);
});

test('shows the error of the channel', () => {
  const { follow, events } = openFrames();
  const panel = follow(9, rows(1));
  events.next({ type: 'status', state: 'connected', error: 'gone' });
  assert.equal(panel.seen.at(-1)?.error?.message, 'Streaming channel error: gone');
});

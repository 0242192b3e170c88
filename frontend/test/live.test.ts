/**
 * Panels, their streams, and what can happen to both: no column loses its history, no row that arrived is lost, none
 * shows twice, and whatever went missing is said.
 */
import { dateTime, FieldType, LoadingState } from '@grafana/data';
import { config } from '@grafana/runtime';

import { type Cursor } from '../src/types';
import { type Asked, closeAll, latest, type Panel, Page, pass, type TestResult } from './host/page';
import { packet, type PacketOptions, records } from './host/packets';

let uid = 0;

beforeEach(() => {
  vi.useFakeTimers({ now: 1_800_000_000_000 });
});

afterEach(async () => {
  await closeAll();
  vi.useRealTimers();
});

/** Opens a page whose process answers every query alike. */
function page(answer: TestResult | ((query: Asked) => TestResult)): Page {
  return new Page(`uid-${uid++}`, typeof answer === 'function' ? answer : () => answer);
}

/** What the process answers to a `latest` query: the columns known so far. */
const LATEST: TestResult = { frames: [records([], { live: latest('p') })] };

/** A topic of one partition behind a stream that has a cursor: each answer has a path of its own. */
class Resumable {
  answers = 0;

  constructor(
    private readonly autoOffsetReset: 'lastN' | 'earliest' = 'earliest',
    private readonly rows: (from: number) => number[] = () => [],
    private readonly options: PacketOptions = {}
  ) {}

  answer = ({ resumeAt }: Asked): TestResult => {
    const from = resumeAt?.next[0] ?? 0;
    const rows = this.rows(from);
    const cursor: Cursor = { topicId: 'T1', next: { 0: (rows.at(-1) ?? from - 1) + 1 } };
    const path = `run-${++this.answers}`;
    const data = { topicName: 'orders', autoOffsetReset: this.autoOffsetReset, lastN: 3, cursor, nonce: path };
    return { frames: [records(rows, { ...this.options, live: { path, key: 'resumable', data } })] };
  };
}

const texts = (panel: Panel) => panel.notices.map(({ text }) => text).join('\n');

describe('a panel', () => {
  it('shows the columns known so far at once, and rows as they come', async () => {
    const grafana = page(LATEST);
    const panel = await grafana.panel([{}]);
    expect(panel.state).toBe(LoadingState.Streaming);
    expect(panel.names()).toEqual(['time', 'partition', 'offset', 'v']);
    expect(panel.frame()).toMatchObject({ name: 'orders', refId: 'A', length: 0 });

    await grafana.stream('p', records([1, 2]), records([3]));
    expect(panel.values('v')).toEqual([10, 20, 30]);
    expect(panel.frame().length).toBe(3);
  });

  it('subscribes with the whole query, under both names of the address', async () => {
    const grafana = page(LATEST);
    await grafana.panel([{}]);
    const { uid } = grafana.datasource;
    expect(grafana.live.subscribed).toEqual([
      { scope: 'ds', namespace: uid, stream: uid, path: 'p', data: { topicName: 'orders', autoOffsetReset: 'latest' } },
    ]);
  });

  it('has two targets of one stream', async () => {
    const grafana = page(LATEST);
    const panel = await grafana.panel([{}, { alias: 'again' }]);
    await grafana.stream('p', records([1]));
    expect(grafana.live.subscribed).toHaveLength(1);
    expect([panel.values('v', 'A'), panel.values('v', 'B')]).toEqual([[10], [10]]);
    expect([panel.frame('A').name, panel.frame('B').name]).toEqual(['orders', 'again']);
  });

  it('asks for all targets at once and has the frames of all in each emission', async () => {
    const grafana = page(({ refId }) => ({ frames: [records([], { live: latest(`p-${refId}`) })] }));
    const panel = await grafana.panel([{}, { topicName: 'payments' }]);
    expect(grafana.asked.map((queries) => queries.map(({ refId }) => refId))).toEqual([['A', 'B']]);

    await grafana.stream('p-A', records([1]));
    await grafana.stream('p-B', records([7]));
    expect(panel.last.key).toBe('streamscope');
    expect([panel.values('v', 'A'), panel.values('v', 'B')]).toEqual([[10], [70]]);
  });

  it('shares a stream with a second panel, which has its history and its own look', async () => {
    const grafana = page(LATEST);
    const first = await grafana.panel([{}]);
    await grafana.stream('p', records([1, 2]));
    const second = await grafana.panel([{ alias: '{{topic}} {{field}}', recordColumns: 'never' }]);
    await grafana.stream('p', records([3]));

    expect(grafana.live.subscribed).toHaveLength(1);
    expect([first, second].map((panel) => panel.values('v'))).toEqual([
      [10, 20, 30],
      [10, 20, 30],
    ]);
    expect(first.names()).toEqual(['time', 'partition', 'offset', 'v']);
    expect(second.names()).toEqual(['time', 'v']);
    expect(second.frame().fields.map(({ config }) => config.displayNameFromDS)).toEqual([undefined, 'orders v']);
  });

  it('takes the last message, which Grafana repeats to who joins late, for what it is', async () => {
    const grafana = page(LATEST);
    const first = await grafana.panel([{}]);
    await grafana.stream('p', withTrouble(records([1, 2])));
    first.close();
    await pass(30_000);
    // The session has ended; another page element still holds the channel.
    grafana.live.getStream({ ...grafana.live.subscribed[0]! }).subscribe();
    const late = await grafana.panel([{}]);
    await grafana.stream('p', records([2, 3]));
    expect(late.values('v')).toEqual([10, 20, 30]);
  });

  it('keeps its rows over a refresh, and over all of 30 s without a panel', async () => {
    const grafana = page(LATEST);
    const panel = await grafana.panel([{}]);
    await grafana.stream('p', records([1, 2]));
    await panel.refresh();
    expect(panel.values('v')).toEqual([10, 20]);

    panel.close();
    await pass(29_000);
    grafana.live.publish('p', records([3]));
    await panel.refresh();
    expect(panel.values('v')).toEqual([10, 20, 30]);
    expect(grafana.live.subscribed).toHaveLength(1);

    panel.close();
    await pass(31_000);
    expect(grafana.live.paths).toEqual([]);
    await panel.refresh();
    expect(panel.values('v')).toEqual([]);
  });

  it('takes nothing of a refresh that the stream still brings', async () => {
    const topic = new Resumable('earliest', () => []);
    const grafana = page(topic.answer);
    const panel = await grafana.panel([{}]);
    await grafana.stream('run-1', records([0, 1]));
    await panel.refresh();
    expect(grafana.live.subscribed).toHaveLength(1);
    await grafana.stream('run-1', records([2]));
    expect(panel.values('v')).toEqual([0, 10, 20]);
  });
});

describe('what a stream can bring', () => {
  it('a schema that grows and comes shorter', async () => {
    const grafana = page(LATEST);
    const panel = await grafana.panel([{}]);
    const row = (offset: number, ...more: Parameters<typeof packet>[0]) =>
      packet([['time', 'time', [offset]], ['partition', 'number', [0]], ['offset', 'number', [offset]], ...more]);
    await grafana.stream(
      'p',
      row(1, ['a', 'number', [1]], ['c', 'string', ['x']]),
      row(2, ['a', 'number', [2]], ['b', 'boolean', [true]], ['c', 'string', ['y']], ['_error', 'string', [null]]),
      row(3, ['c', 'string', ['z']]),
      row(4, ['d', 'number', [4]])
    );
    expect(panel.names()).toEqual(['time', 'partition', 'offset', 'd', 'a', 'b', 'c', 'v', '_error']);
    expect(panel.values('a')).toEqual([1, 2, null, null]);
    expect(panel.values('b')).toEqual([null, true, null, null]);
    expect(panel.values('c')).toEqual(['x', 'y', 'z', null]);
    expect(panel.values('d')).toEqual([null, null, null, 4]);
    expect(panel.frame().fields.every(({ values }) => values.length === 4)).toBe(true);
  });

  it('a record from the future', async () => {
    const grafana = page(LATEST);
    const panel = await grafana.panel([{}]);
    const future = (Date.now() + 3_600_000) / 1000;
    await grafana.stream('p', records([1, 2]), records([future]), records([future + 1]));
    expect(panel.values('v')).toHaveLength(4);
  });

  it('not-a-number and the infinities', async () => {
    const grafana = page(LATEST);
    const panel = await grafana.panel([{}]);
    const values = [NaN, Infinity, 1, -Infinity, null];
    await grafana.stream('p', packet([['time', 'time', [1, 2, 3, 4, 5]], ['v', 'number', values]]));
    expect(panel.values('v')).toEqual(values);
  });

  it('a malformed record among good ones', async () => {
    const grafana = page(LATEST);
    const panel = await grafana.panel([{}]);
    const bad = packet([
      ['time', 'time', [2000]],
      ['partition', 'number', [0]],
      ['offset', 'number', [2]],
      ['_error', 'string', ['expected a value at 1:1']],
    ]);
    await grafana.stream('p', records([1]), bad, records([3]));
    expect(panel.values('offset')).toEqual([1, 2, 3]);
    expect(panel.values('v')).toEqual([10, null, 30]);
    expect(panel.values('_error')).toEqual([null, 'expected a value at 1:1', null]);
  });

  it('partitions that overtake each other: the frame is in time order, rows of one time as they came', async () => {
    const grafana = page(LATEST);
    const panel = await grafana.panel([{}]);
    await grafana.stream('p', records([5, 6]), records([1, 5], { partition: 1 }), records([7]));
    expect(panel.values('time')).toEqual([1000, 5000, 5000, 6000, 7000]);
    expect(panel.values('partition')).toEqual([1, 0, 1, 0, 0]);
  });

  it('the rows of one record, which share an offset', async () => {
    const grafana = page(LATEST);
    const panel = await grafana.panel([{}]);
    await grafana.stream('p', records([4, 4, 4]), records([4, 5]));
    expect(panel.values('offset')).toEqual([4, 4, 4, 5]);
  });

  it('a topic that was made anew: its offsets start over', async () => {
    const grafana = page(LATEST);
    const panel = await grafana.panel([{}]);
    const made = { severity: 'warning' as const, text: 'the topic was created anew' };
    await grafana.stream('p', records([7, 8]), records([0, 1], { topicId: 'T2', notices: [made] }));
    expect(panel.values('offset').sort()).toEqual([0, 1, 7, 8]);
    expect(texts(panel)).toContain('created anew');
  });

  it('something that is no frame', async () => {
    const grafana = page(LATEST);
    const panel = await grafana.panel([{}]);
    await grafana.stream('p', 'x', {}, { schema: {} }, records([1]));
    expect(panel.values('v')).toEqual([10]);
  });

  it('notices, of which only the last stays where they differ in numbers', async () => {
    const grafana = page(LATEST);
    const panel = await grafana.panel([{}]);
    const said = (text: string) => ({ notices: [{ severity: 'warning' as const, text }] });
    await grafana.stream('p', records([1], said('3 records passed over')), records([2], said('17 records passed over')));
    grafana.live.publish('p', records([], said('the broker is gone')));
    await pass(200);
    expect(panel.notices.map(({ text }) => text)).toEqual(['17 records passed over', 'the broker is gone']);
  });

  it('another type for a column, after the process was restarted', async () => {
    const grafana = page(LATEST);
    const panel = await grafana.panel([{}]);
    const typed = (offset: number, number: unknown, text: unknown, swap = false) =>
      packet([
        ['time', 'time', [offset]],
        ['partition', 'number', [0]],
        ['offset', 'number', [offset]],
        ['n', swap ? 'string' : 'number', [number]],
        ['t', swap ? 'number' : 'string', [text]],
      ]);
    await grafana.stream('p', typed(1, 1, 'a'), typed(2, 'b', 2, true), typed(3, 3, 'c'));
    expect(panel.values('n')).toEqual([1, null, 3]);
    expect(panel.values('t')).toEqual(['a', '2', 'c']);
    expect(panel.frame().fields.find(({ name }) => name === 'n')?.type).toBe(FieldType.number);
    expect(texts(panel)).toContain('1 values of n are left empty');
  });
});

describe('a cut-off', () => {
  it('of a latest stream is said, and nothing that is there goes', async () => {
    const grafana = page(LATEST);
    const panel = await grafana.panel([{}]);
    await grafana.stream('p', records([1, 2]));
    grafana.live.cut();
    await pass(200);
    expect(texts(panel)).toContain('is cut off since');
    grafana.live.restore();
    grafana.live.publish('p', records([9]));
    await pass(200);
    expect(panel.values('offset')).toEqual([1, 2, 9]);
    expect(texts(panel)).toMatch(/was cut off from .* to .*: records of that time are missing/);
    expect(grafana.live.subscribed).toHaveLength(1);
    expect(grafana.asked).toHaveLength(1);
  });

  it('of a stream with a cursor is made good', async () => {
    const topic = new Resumable('earliest', (from) => (from > 0 ? [from, from + 1] : []));
    const grafana = page(topic.answer);
    const panel = await grafana.panel([{}]);
    await grafana.stream('run-1', records([0, 1]));
    grafana.live.cut();
    await pass(5000);
    grafana.live.overtake('run-1', records([8]));
    grafana.live.restore();
    // The old run is ahead already: taking this would lose 2 to 4.
    grafana.live.publish('run-1', records([5]));
    await pass(300);
    expect(grafana.asked.at(-1)).toMatchObject([{ refId: 'A', resumeAt: { topicId: 'T1', next: { 0: 2 } } }]);
    expect(grafana.live.paths).toEqual(['run-2']);
    await grafana.stream('run-2', records([4, 5]));
    expect(panel.values('offset')).toEqual([0, 1, 2, 3, 4, 5]);
    expect(texts(panel)).toContain('what was missed has been read again');
  });

  it('is tried again until the process answers', async () => {
    const topic = new Resumable('earliest', () => []);
    let broken = false;
    const grafana = page((query) => (broken ? { error: 'Kafka cannot be reached' } : topic.answer(query)));
    const panel = await grafana.panel([{}]);
    await grafana.stream('run-1', records([0, 1]));
    broken = true;
    grafana.live.cut();
    grafana.live.restore();
    await pass(200);
    expect(panel.errors).toMatchObject([{ refId: 'A', message: 'Kafka cannot be reached' }]);
    expect(panel.values('offset')).toEqual([0, 1]);
    await pass(60_000);
    expect(grafana.asked.length).toBeLessThan(10);
    broken = false;
    await pass(30_000);
    await grafana.stream('run-2', records([2]));
    expect(panel.values('offset')).toEqual([0, 1, 2]);
    expect(panel.errors).toEqual([]);
    expect(panel.state).toBe(LoadingState.Streaming);
  });

  it('a run that starts over, at the cursor that the session began with', async () => {
    const topic = new Resumable('lastN', (from) => (from === 0 ? [0, 1] : []));
    const grafana = page(topic.answer);
    const panel = await grafana.panel([{}]);
    await grafana.stream('run-1', records([2, 3]), records([2, 3]));
    expect(grafana.asked.at(-1)).toMatchObject([{ resumeAt: { topicId: 'T1', next: { 0: 4 } } }]);
    expect(grafana.live.paths).toEqual(['run-2']);
    await grafana.stream('run-2', records([4]));
    expect(panel.values('offset')).toEqual([0, 1, 2, 3, 4]);
  });

  it('a process that was restarted, and has seen fewer columns since', async () => {
    const topic = new Resumable('earliest', () => []);
    const grafana = page(topic.answer);
    const panel = await grafana.panel([{}]);
    const row = (offset: number, ...more: Parameters<typeof packet>[0]) =>
      packet([['time', 'time', [offset]], ['partition', 'number', [0]], ['offset', 'number', [offset]], ...more]);
    const first = row(0, ['a', 'number', [1]]);
    await grafana.stream('run-1', first, row(1, ['a', 'number', [2]], ['b', 'string', ['x']]), first);
    await grafana.stream('run-2', row(2, ['b', 'number', [3]]));
    expect(grafana.asked.at(-1)).toMatchObject([{ resumeAt: { next: { 0: 2 } } }]);
    expect(panel.values('offset')).toEqual([0, 1, 2]);
    expect(panel.values('a')).toEqual([1, 2, null]);
    expect(panel.values('b')).toEqual([null, 'x', '3']);
  });

  it('a process that was restarted under a latest stream is said once', async () => {
    const grafana = page(LATEST);
    const panel = await grafana.panel([{}]);
    await grafana.stream('p', records([1], { run: 'a' }), records([2], { run: 'a' }));
    expect(texts(panel)).not.toContain('started anew');
    await grafana.stream('p', records([9], { run: 'b' }), records([10], { run: 'b' }));
    expect(panel.values('offset')).toEqual([1, 2, 9, 10]);
    expect(texts(panel).match(/started anew/g)).toHaveLength(1);
  });

  it('that comes before the first record goes on from the cursor of the answer', async () => {
    const topic = new Resumable('lastN', (from) => (from === 0 ? [5, 6] : []));
    const grafana = page(topic.answer);
    await grafana.panel([{}]);
    await grafana.stream('run-1');
    grafana.live.cut();
    grafana.live.restore();
    await pass(10);
    expect(grafana.asked.at(-1)).toMatchObject([{ resumeAt: { topicId: 'T1', next: { 0: 7 } } }]);
  });

  it('resumes with the variables of its panel filled in', async () => {
    const topic = new Resumable();
    const grafana = new Page(`uid-${uid++}`, topic.answer, { t: 'orders' });
    await grafana.panel([{ topicName: '$t' }]);
    await grafana.stream('run-1');
    grafana.live.cut();
    grafana.live.restore();
    await pass(10);
    expect(grafana.asked.at(-1)).toMatchObject([{ topicName: 'orders', resumeAt: {} }]);
  });
});

describe('rows are kept', () => {
  it('by the points of the panel', async () => {
    const grafana = page(LATEST);
    const [small, large] = [await grafana.panel([{}], { maxDataPoints: 3 }), await grafana.panel([{}], { maxDataPoints: 5 })];
    await grafana.stream('p', records([1, 2, 3, 4, 5, 6]));
    expect(small.values('offset')).toEqual([4, 5, 6]);
    expect(large.values('offset')).toEqual([2, 3, 4, 5, 6]);
  });

  it('never fewer than the first answer had', async () => {
    const topic = new Resumable('earliest', () => [0, 1, 2, 3, 4, 5]);
    const grafana = page(topic.answer);
    const panel = await grafana.panel([{}], { maxDataPoints: 2 });
    await grafana.stream('run-1', records([6]));
    expect(panel.values('offset')).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it('for lastN at least N records of each partition, however fast the others are', async () => {
    const topic = new Resumable('lastN', () => []);
    const grafana = page(topic.answer);
    const panel = await grafana.panel([{}], { maxDataPoints: 10 });
    await grafana.stream('run-1', records([1, 2, 3, 4, 4], { partition: 1 }));
    for (let offset = 0; offset < 1000; offset += 20) {
      await grafana.stream('run-1', records(Array.from({ length: 20 }, (_, i) => offset + i)));
    }
    const shown = panel.values('partition').map((partition, row) => [partition, panel.values('offset')[row]]);
    expect(shown.filter(([partition]) => partition === 1)).toEqual([[1, 2], [1, 3], [1, 4], [1, 4]]);
    expect(shown.filter(([partition]) => partition === 0)).toHaveLength(10);
  });

  it('for latest by the range, from their arrival on', async () => {
    const grafana = page(LATEST);
    const panel = await grafana.panel([{}]);
    await grafana.stream('p', records([1]));
    await pass(299_000);
    await grafana.stream('p', records([2]));
    expect(panel.values('offset')).toEqual([1, 2]);
    await pass(2000);
    await grafana.stream('p', records([3]));
    expect(panel.values('offset')).toEqual([2, 3]);
  });
});

describe('it says', () => {
  it('what is wrong with one target, while the other streams', async () => {
    const grafana = page(({ refId }) => (refId === 'A' ? { error: 'unknown topic' } : LATEST));
    const panel = await grafana.panel([{ topicName: 'nope' }, {}]);
    await grafana.stream('p', records([1]));
    expect(panel.errors).toMatchObject([{ refId: 'A', message: 'unknown topic' }]);
    expect(panel.state).toBe(LoadingState.Error);
    expect(panel.values('v', 'B')).toEqual([10]);
  });

  it('that Kafka is away, until records come: a wall display comes back by itself', async () => {
    const link = { path: 'run', key: 'k', data: { topicName: 'orders', autoOffsetReset: 'lastN', lastN: 3 } };
    const grafana = page({ error: 'Kafka cannot be reached', frames: [packet([], { live: link })] });
    const panel = await grafana.panel([{}]);
    expect(panel.errors).toMatchObject([{ refId: 'A', message: 'Kafka cannot be reached' }]);
    await grafana.stream('run', withTrouble(records([])));
    expect(panel.errors).toHaveLength(1);
    await grafana.stream('run', records([1]));
    expect(panel.errors).toEqual([]);
    expect(panel.state).toBe(LoadingState.Streaming);
  });

  it('that Kafka is away, no longer than that is so, though the topic is quiet', async () => {
    let away = true;
    const grafana = page(() => ({ ...LATEST, ...(away && { error: 'Kafka cannot be reached' }) }));
    const panel = await grafana.panel([{}]);
    await grafana.stream('p');
    await pass(31_000);
    expect(panel.errors).toHaveLength(1);
    away = false;
    await pass(31_000);
    expect(panel.errors).toEqual([]);
    const asked = grafana.asked.length;
    await pass(120_000);
    expect(grafana.asked).toHaveLength(asked);
  });

  it.each([
    [undefined, 66_000, true],
    [undefined, 64_000, false],
    [200_000, 66_000, false],
    [200_000, 200_000, true],
    [-1, 9_000_000, false],
  ])('that a query is too large: limit %s, size %s', async (limit, size, refused) => {
    const live = { path: 'p', key: 'p', data: { topicName: 'orders', autoOffsetReset: 'latest', avroSchema: 'x'.repeat(size) } };
    const grafana = page({ frames: [records([1, 2], { live })] });
    (config as { liveMessageSizeLimit?: number }).liveMessageSizeLimit = limit;
    const panel = await grafana.panel([{}]);
    delete (config as { liveMessageSizeLimit?: number }).liveMessageSizeLimit;
    expect(grafana.live.subscribed).toHaveLength(refused ? 0 : 1);
    expect(panel.values('v')).toEqual([10, 20]);
    if (refused) {
      expect(panel.errors[0]?.message).toMatch(
        new RegExp(`is ${size + 65} bytes long.*takes ${limit ?? 65536} .*message_size_limit`)
      );
    } else {
      expect(panel.errors).toEqual([]);
    }
  });

  it('that there is no live connection yet; then each refresh brings rows', async () => {
    const topic: Resumable = new Resumable('lastN', () => [topic.answers]);
    const grafana = page(topic.answer);
    const panel = await grafana.panel([{}]);
    expect(panel.values('offset')).toEqual([0]);
    grafana.live.delay('run-1', 'plugin unavailable');
    await pass(11_000);
    expect(texts(panel)).toContain('No live connection to Grafana yet (plugin unavailable)');
    await panel.refresh();
    expect(panel.values('offset')).toEqual([0, 1]);
    await grafana.stream('run-2', records([2]));
    expect(panel.values('offset')).toEqual([0, 1, 2]);
    expect(texts(panel)).not.toContain('No live connection');
  });

  it('that a subscription was refused, and tries again', async () => {
    const grafana = page(LATEST);
    const panel = await grafana.panel([{}]);
    grafana.live.refuse('p');
    await pass(200);
    expect(panel.errors[0]?.message).toContain('the live stream stopped');
    await pass(30_000);
    await grafana.stream('p', records([1]));
    expect(panel.errors).toEqual([]);
    expect(panel.values('v')).toEqual([10]);
  });

  it('what an answer has to say, and no longer that rows are yet to come when they have', async () => {
    const grafana = page({
      frames: [
        records([], {
          live: latest('p'),
          notices: [
            { severity: 'info', text: 'rows arrive live' },
            { severity: 'warning', text: 'mind the gap' },
          ],
        }),
      ],
    });
    const panel = await grafana.panel([{}]);
    expect(texts(panel)).toBe('rows arrive live\nmind the gap');
    await grafana.stream('p', records([1]));
    expect(texts(panel)).toBe('mind the gap');
  });
});

describe('no stream', () => {
  const ago = dateTime(1_800_000_000_000 - 60_000);

  it.each([
    ['a range that is over', { range: { from: dateTime(0), to: ago, raw: { from: dateTime(0), to: ago } } }],
    ['a range that ends before now', { range: { from: dateTime(0), to: ago, raw: { from: 'now-5m', to: 'now-1m' } } }],
    ['an expression', { targets: [{ refId: 'A', topicName: 'orders' }, { refId: 'E', datasource: { type: '__expr__', uid: '__expr__' } }] }],
  ])('for %s', async (_, request) => {
    const grafana = page(LATEST);
    const panel = await grafana.panel([{ recordColumns: 'never' }], request as never);
    expect(grafana.live.subscribed).toEqual([]);
    expect(panel.names()).toContain('v');
  });

  it('where Grafana Live is off, which is said', async () => {
    const grafana = page(LATEST);
    config.liveEnabled = false;
    const panel = await grafana.panel([{}]);
    expect(grafana.live.subscribed).toEqual([]);
    expect(texts(panel)).toContain('Grafana Live is switched off');
  });

  it('for a query without a topic', async () => {
    const grafana = page(LATEST);
    const panel = await grafana.panel([{ topicName: ' ' }]);
    expect(grafana.asked).toEqual([]);
    expect(panel.last.data).toEqual([]);
  });

  it('is needed for a range of today', async () => {
    const grafana = page(LATEST);
    const to = dateTime(Date.now() + 3_600_000);
    await grafana.panel([{}], { range: { from: dateTime(0), to, raw: { from: 'now/d', to: 'now/d' } } });
    expect(grafana.live.subscribed).toHaveLength(1);
  });
});

describe('a panel is drawn', () => {
  /** Publishes 50 packets in a second. */
  async function second(grafana: Page, path: string): Promise<void> {
    for (let i = 0; i < 50; i++) {
      grafana.live.publish(path, records([i]));
      await pass(20);
    }
  }

  it.each([
    ['timeseries', 9, 11],
    ['table', 4, 6],
  ])('%s: between %i and %i times a second', async (panelPluginId, least, most) => {
    const grafana = page(LATEST);
    const panel = await grafana.panel([{}], { panelPluginId });
    await grafana.stream('p');
    const before = panel.emissions;
    await second(grafana, 'p');
    expect(panel.emissions - before).toBeGreaterThanOrEqual(least);
    expect(panel.emissions - before).toBeLessThanOrEqual(most);
    await pass(200);
    expect(panel.values('offset').at(-1)).toBe(49);
  });

  it('5 times a second where more than 10 streams are open', async () => {
    const grafana = page(({ topicName }) => ({ frames: [records([], { live: latest(topicName) })] }));
    const panels: Panel[] = [];
    for (let i = 0; i < 11; i++) {
      panels.push(await grafana.panel([{ topicName: `t${i}` }], { panelPluginId: 'timeseries' }));
    }
    await grafana.stream('t0');
    const before = panels[0]!.emissions;
    await second(grafana, 't0');
    expect(panels[0]!.emissions - before).toBeLessThanOrEqual(6);
  });
});

/** Adds a row that the run made itself, without an offset. */
function withTrouble(json: ReturnType<typeof records>): ReturnType<typeof records> {
  const values = json.data!.values.map((column, i) => [...column, i === 0 ? 99_000 : null]);
  return { ...json, data: { ...json.data!, values } };
}

/** What a panel says where something is wrong, and where it has no stream at all. */
import { dateTime, LoadingState } from '@grafana/data';
import { config } from '@grafana/runtime';

import { latest, pass, type TestResult } from '../host/page';
import { packet, records } from '../host/packets';
import { LATEST, page, Resumable, texts, withTrouble } from './setup';

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

  it('that a refresh failed, and keeps the rows and the stream', async () => {
    let answer: TestResult = LATEST;
    const grafana = page(() => answer);
    const panel = await grafana.panel([{}]);
    await grafana.stream('p', records([1, 2]));

    answer = { error: 'topic orders not found' };
    await panel.refresh();
    expect(panel.errors).toMatchObject([{ refId: 'A', message: 'topic orders not found' }]);
    expect(panel.values('v')).toEqual([10, 20]);

    await grafana.stream('p', records([3]));
    expect(panel.values('v')).toEqual([10, 20, 30]);
    answer = LATEST;
    await panel.refresh();
    expect(panel.errors).toEqual([]);
    expect(panel.values('v')).toEqual([10, 20, 30]);
    expect(grafana.live.subscribed).toHaveLength(1);
  });

  it('that the process did not answer a refresh, until it does', async () => {
    const grafana = page(new Resumable('earliest', (from) => (from < 3 ? [0, 1, 2] : [])).answer);
    const panel = await grafana.panel([{}]);
    await grafana.stream('run-1', records([3]));

    grafana.isAway = true;
    await panel.refresh();
    expect(panel.errors).toMatchObject([{ message: 'An error occurred within the plugin' }]);
    expect(panel.values('v')).toEqual([0, 10, 20, 30]);

    grafana.isAway = false;
    await grafana.stream('run-1', records([4]));
    await pass(60_000);
    expect(panel.errors).toEqual([]);
    expect(panel.values('v')).toEqual([0, 10, 20, 30, 40]);
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

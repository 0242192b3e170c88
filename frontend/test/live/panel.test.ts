/** Panels and their streams: what they share, what they keep, and how often they are drawn. */
import { LoadingState } from '@grafana/data';

import { latest, type Page, type Panel, pass } from '../host/page';
import { records } from '../host/packets';
import { LATEST, page, Resumable, withTrouble } from './setup';

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

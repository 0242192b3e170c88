/** What can happen to a stream: nothing that is there goes, what was missed is fetched, or said. */
import { LoadingState } from '@grafana/data';

import { pass } from '../host/page';
import { packet, records } from '../host/packets';
import { LATEST, page, Resumable, texts } from './setup';

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
    const grafana = page(topic.answer, { t: 'orders' });
    await grafana.panel([{ topicName: '$t' }]);
    await grafana.stream('run-1');
    grafana.live.cut();
    grafana.live.restore();
    await pass(10);
    expect(grafana.asked.at(-1)).toMatchObject([{ topicName: 'orders', resumeAt: {} }]);
  });
});

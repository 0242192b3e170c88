import { LoadingState } from '@grafana/data';

import { latest, Page, type TestResult } from './host/page';
import { packet, records } from './host/packets';

let uid = 0;

beforeEach(() => {
  vi.useFakeTimers({ now: 1_800_000_000_000 });
});

afterEach(() => {
  // The sessions of a test end with it.
  vi.advanceTimersByTime(60_000);
  vi.useRealTimers();
});

/** Opens a page whose process answers every query alike. */
function page(result: TestResult | (() => TestResult)): Page {
  return new Page(`uid-${uid++}`, typeof result === 'function' ? result : () => result);
}

const answer = { frames: [packet([['time', 'time', []], ['partition', 'number', []], ['offset', 'number', []]], { live: latest() })] };

describe('a latest session', () => {
  it('shows the known columns, then the rows', async () => {
    const grafana = page(answer);
    const panel = await grafana.panel([{}]);
    expect(panel.state).toBe(LoadingState.Streaming);
    expect(panel.names()).toEqual(['time', 'partition', 'offset']);
    await grafana.stream('latest-1', records([1, 2]));
    expect(panel.values('v')).toEqual([10, 20]);
    panel.close();
  });
});

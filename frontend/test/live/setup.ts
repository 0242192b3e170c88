/** What the tests of live panels begin with: a page of Grafana whose clock stands still, and what its process answers. */
import { type Cursor } from '../../src/types';
import { type Asked, closeAll, latest, Page, type Panel, type TestResult } from '../host/page';
import { type PacketOptions, records } from '../host/packets';

let uid = 0;

beforeEach(() => {
  vi.useFakeTimers({ now: 1_800_000_000_000 });
});

afterEach(async () => {
  await closeAll();
  vi.useRealTimers();
});

/** Opens a page whose process answers every query alike, on a dashboard with these variables. */
export function page(answer: TestResult | ((query: Asked) => TestResult), variables?: Record<string, string>): Page {
  return new Page(`uid-${uid++}`, typeof answer === 'function' ? answer : () => answer, variables);
}

/** What the process answers to a `latest` query: the columns known so far. */
export const LATEST: TestResult = { frames: [records([], { live: latest('p') })] };

/** A topic of one partition behind a stream that has a cursor: each answer has a path of its own. */
export class Resumable {
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

/** All notices of a panel, one a line. */
export function texts(panel: Panel): string {
  return panel.notices.map(({ text }) => text).join('\n');
}

/** Adds a row that the run made itself, without an offset. */
export function withTrouble(json: ReturnType<typeof records>): ReturnType<typeof records> {
  const values = json.data!.values.map((column, i) => [...column, i === 0 ? 99_000 : null]);
  return { ...json, data: { ...json.data!, values } };
}

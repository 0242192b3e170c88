import { type DataFrame, type DataQueryError, dateTimeFormat, type QueryResultMetaNotice } from '@grafana/data';
import { type Unsubscribable } from 'rxjs';

import { type Cursor } from '../types';
import { openChannel } from './channel';
import { Columns, OFFSET } from './columns';
import { type Look, toFrame } from './frame';
import { Notices } from './notices';
import { type LiveLink, type Packet, packetFromFrame, packetFromJSON } from './packet';

/** What the process answered to one target. */
export interface Answer {
  frame?: DataFrame;
  /** Where the stream is; absent where the query itself is wrong. */
  link?: LiveLink;
  error?: DataQueryError;
}

/** Asks the process again for the same target, from a position on. */
export type Ask = (resumeAt: Cursor) => Promise<Answer>;

type Phase = 'joining' | 'slow' | 'joined' | 'cut' | 'resuming' | 'lost' | 'closed';

/** One panel that shows the session. */
export interface Viewer {
  /** How many rows it shows. */
  rows: number;
  /** Something is new. */
  changed(): void;
}

/**
 * One stream as the panels of a page see it: its rows, its notices, and its way back after a cut-off.
 *
 * Panels that differ in nothing that the stream knows of share one. Grafana unsubscribes a panel before each refresh, so a
 * session outlives its last panel by `LINGER`.
 */
export class Session {
  private readonly columns = new Columns();
  private readonly notices = new Notices();
  private readonly viewers = new Set<Viewer>();
  private channel: Unsubscribable | undefined;
  private phase: Phase = 'joining';
  private cutAt: number | undefined;
  /** What Grafana said of a subscription that does not stand. */
  private trouble = '';
  private resumedAt = -Infinity;
  /** Waits for the one thing that comes next: the subscription, or the moment to try again. */
  private timer: ReturnType<typeof setTimeout> | undefined;
  private linger: ReturnType<typeof setTimeout> | undefined;
  private problem: DataQueryError | undefined;
  /** Why Grafana closed the channel, until there is another. */
  private stopped: string | undefined;
  private answerNotices: QueryResultMetaNotice[] = [];
  private readonly firstRows: number;
  private streamed = false;
  /** The run that the last packet came from. */
  private run: string | undefined;
  private rows = 0;

  constructor(
    private readonly uid: string,
    private link: LiveLink,
    answer: Answer,
    private ask: Ask,
    private readonly closed: () => void
  ) {
    this.take(answer);
    this.firstRows = this.columns.length;
    this.open(link);
    this.lingers();
  }

  /** Shows the session to a panel until the returned function is called. */
  watch(viewer: Viewer): () => void {
    clearTimeout(this.linger);
    this.viewers.add(viewer);
    this.rows = Math.max(this.rows, viewer.rows);
    return () => {
      this.viewers.delete(viewer);
      if (this.viewers.size === 0) {
        this.lingers();
      } else {
        this.rows = Math.max(...[...this.viewers].map(({ rows }) => rows));
      }
    };
  }

  /**
   * Takes the answer of a later query for the same stream. A session that lives needs none of its rows, which would only
   * move its offsets ahead of what the stream still brings.
   */
  refresh(answer: Answer, ask: Ask): void {
    this.ask = ask;
    if (this.phase === 'slow' || this.phase === 'lost') {
      this.take(answer);
      if (answer.link) {
        this.open(answer.link);
      }
    } else {
      this.problem = answer.error;
      this.answerNotices = answer.frame?.meta?.notices ?? [];
      this.recheck();
    }
    this.changed();
  }

  /** Takes the error of a later query that has no other answer. */
  fail(error: DataQueryError | undefined): void {
    this.problem = error;
    this.recheck();
    this.changed();
  }

  /** Says what keeps the rows away. */
  get error(): DataQueryError | undefined {
    return this.stopped === undefined ? this.problem : { message: `the live stream stopped: ${this.stopped}` };
  }

  /** Makes the frame of a panel that shows `rows` rows, and of a `latest` stream those of the last `span` milliseconds. */
  frame(look: Look, rows: number, span: number | undefined): DataFrame {
    const now = Date.now();
    const retention = { ...this.retention, rows: Math.max(rows, this.firstRows) };
    const selection = this.columns.select(retention, this.resumes || span === undefined ? undefined : now - span);
    const oldest = Math.min(this.columns.firstArrival(selection) ?? now, now - NOTICE_STAYS);
    return toFrame(this.columns, selection, look, this.say(oldest));
  }

  /** A stream of `latest` is one for all and has no place of its own to go on from. */
  private get resumes(): boolean {
    return this.link.data.autoOffsetReset !== 'latest';
  }

  private get retention(): { rows: number; recordsPerPartition: number } {
    const { autoOffsetReset, lastN } = this.link.data;
    const recordsPerPartition = autoOffsetReset === 'lastN' && typeof lastN === 'number' ? lastN : 0;
    return { rows: Math.max(this.rows, this.firstRows), recordsPerPartition };
  }

  private say(since: number): QueryResultMetaNotice[] {
    const notices = this.answerNotices.filter(({ severity }) => severity !== 'info' || !this.streamed);
    notices.push(...this.notices.since(since));
    for (const { name, type, misfits } of this.columns.all) {
      if (misfits > 0) {
        notices.push(warning(`${misfits} values of ${name} are left empty: they do not fit its type, ${type}`));
      }
    }
    const state = this.stateNotice();
    return state ? [...notices, state] : notices;
  }

  private stateNotice(): QueryResultMetaNotice | undefined {
    const since = this.cutAt === undefined ? '' : ` since ${clock(this.cutAt)}`;
    switch (this.phase) {
      case 'slow':
        return warning(
          `No live connection to Grafana yet${this.trouble}, so new rows come with each refresh only` +
            (this.resumes ? '' : ', and Latest has none: choose Last N or Earliest to see some') +
            '. Grafana allows a ' +
            'limited number of live connections ([live] max_connections), and a proxy has to pass WebSockets on.'
        );
      case 'cut':
        return warning(`The live connection to Grafana is cut off${since}${this.trouble}; it is being restored`);
      case 'resuming':
        return warning(`What came${since} is being read again`);
      case 'lost':
        return warning(`The live channel is closed${since}; the next try is within ${RETRY_LOST / 1000} s`);
      default:
        return undefined;
    }
  }

  /** Takes the rows and the words of an answer. */
  private take({ frame, error }: Answer): void {
    this.problem = error;
    this.answerNotices = frame?.meta?.notices ?? [];
    if (frame) {
      this.columns.append(packetFromFrame(frame), Date.now());
    }
  }

  private open(link: LiveLink): void {
    this.close();
    this.link = link;
    this.phase = 'joining';
    this.timer = setTimeout(() => this.enter('slow'), SLOW);
    let alive = true;
    const channel = openChannel(this.uid, link, {
      message: (message, again) => this.message(message, again),
      joined: () => {
        clearTimeout(this.timer);
        this.stopped = undefined;
        this.trouble = '';
        this.enter('joined');
        this.recheck();
      },
      cut: () => {
        this.cutAt = Date.now();
        this.enter('cut');
      },
      trouble: (reason) => {
        this.trouble = ` (${reason})`;
        this.changed();
      },
      back: () => this.back(),
      lost: (reason) => {
        alive = false;
        this.lose(reason);
      },
    });
    // A channel that is closed from the start has told so before there was one to close.
    if (alive) {
      this.channel = channel;
    } else {
      channel.unsubscribe();
    }
  }

  /** Looks again whether what was wrong still is: a stream that has nothing to send has nothing to say about it. */
  private recheck(): void {
    if (this.problem && this.phase === 'joined') {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => {
        this.askOn().then(({ error }) => {
          if (this.phase === 'joined') {
            this.problem = error;
            this.changed();
            this.recheck();
          }
        });
      }, RECHECK);
    }
  }

  private message(message: unknown, again: boolean): void {
    const packet = packetFromJSON(message);
    // While it is cut off, a message that overtakes the news of its return would move the offsets past what is missing.
    if (!packet || (this.phase === 'cut' && this.resumes)) {
      return;
    }
    const { rows, replayed } = this.columns.append(again ? withoutLoose(packet) : packet, Date.now());
    this.columns.trim(this.retention);
    if (!again) {
      this.followRun(packet.run);
      this.notices.add(packet.notices, Date.now());
      this.streamed ||= rows > 0;
      if (isGoodNews(packet)) {
        this.problem = undefined;
      }
    }
    // The run started over, at the place where the session was started.
    if (replayed && !again && this.resumes && Date.now() - this.resumedAt > RESUME_AGAIN) {
      this.resume(0);
    }
    this.changed();
  }

  /** Says that the stream was started anew, where nothing brings what it missed: the process was restarted. */
  private followRun(run: string | undefined): void {
    if (run !== undefined && this.run !== undefined && run !== this.run && !this.resumes) {
      const text = `The stream was started anew at ${clock(Date.now())}: records from just before may be missing here`;
      this.notices.add([warning(text)], Date.now());
    }
    this.run = run ?? this.run;
  }

  private back(): void {
    this.trouble = '';
    if (this.resumes) {
      this.resume(0);
      return;
    }
    const now = Date.now();
    const text = `The live connection to Grafana was cut off from ${clock(this.cutAt ?? now)} to ${clock(now)}: records of that time are missing here`;
    this.notices.add([warning(text)], now);
    this.cutAt = undefined;
    this.enter('joined');
  }

  private lose(reason: string): void {
    this.close();
    this.cutAt ??= Date.now();
    this.stopped = reason;
    this.timer = setTimeout(() => (this.resumes ? this.resume(0) : this.open(this.link)), RETRY_LOST);
    this.enter('lost');
  }

  /**
   * Asks again from the session's own offsets on, and moves to the stream of the answer.
   *
   * The old stream ends first: what it still brought would move the offsets past what is missing.
   */
  private resume(tries: number): void {
    this.close();
    this.cutAt ??= Date.now();
    this.enter('resuming');
    this.askOn().then((answer) => this.resumed(answer, tries));
  }

  /** Asks for what follows the session's own offsets. */
  private askOn(): Promise<Answer> {
    const asked = this.ask(this.columns.cursor(this.link.data.cursor));
    return asked.catch((error: unknown) => ({ error: { message: String(error) } }));
  }

  private resumed(answer: Answer, tries: number): void {
    // A refresh may have opened a stream, and the page may have gone, in the meantime.
    if (this.phase !== 'resuming') {
      return;
    }
    if (answer.link && !answer.error) {
      const from = clock(this.cutAt ?? Date.now());
      this.take(answer);
      this.cutAt = undefined;
      this.resumedAt = Date.now();
      this.notices.add(
        [{ severity: 'info', text: `The stream was interrupted at ${from}; what was missed has been read again` }],
        Date.now()
      );
      this.open(answer.link);
    } else {
      this.problem = answer.error ?? this.problem;
      this.timer = setTimeout(() => this.resume(tries + 1), Math.min(RETRY_LOST, 1000 * 2 ** tries));
    }
    this.changed();
  }

  private enter(phase: Session['phase']): void {
    this.phase = phase;
    this.changed();
  }

  private changed(): void {
    for (const viewer of this.viewers) {
      viewer.changed();
    }
  }

  private close(): void {
    clearTimeout(this.timer);
    this.channel?.unsubscribe();
    this.channel = undefined;
  }

  private lingers(): void {
    clearTimeout(this.linger);
    this.linger = setTimeout(() => {
      this.close();
      this.phase = 'closed';
      this.closed();
    }, LINGER);
  }
}

/** Leaves out the rows without an offset: nobody could tell whether they are there already. */
function withoutLoose(packet: Packet): Packet {
  const offsets = packet.fields.find(({ name }) => name === OFFSET)?.values ?? [];
  const rows = offsets.flatMap((offset, row) => (offset == null ? [] : row));
  const fields = packet.fields.map((field) => ({ ...field, values: rows.map((row) => field.values[row]) }));
  return { ...packet, fields, length: rows.length };
}

/** Says whether Kafka answers: a record came, or the run says that it reads on. */
function isGoodNews({ fields, length, notices }: Packet): boolean {
  return length === 0
    ? notices.some(({ severity }) => severity === 'info')
    : fields.some(({ name, values }) => name === OFFSET && values.some((offset) => offset != null));
}

function warning(text: string): QueryResultMetaNotice {
  return { severity: 'warning', text };
}

function clock(at: number): string {
  return dateTimeFormat(at, { format: 'HH:mm:ss' });
}

const LINGER = 30_000;
/** How long the subscription may take before the panel says so. */
const SLOW = 10_000;
const RETRY_LOST = 30_000;
const RECHECK = 30_000;
/** A run that starts over again and again is not asked after more often than this. */
const RESUME_AGAIN = 5000;
const NOTICE_STAYS = 60_000;

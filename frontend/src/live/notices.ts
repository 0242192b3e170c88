import { type QueryResultMetaNotice } from '@grafana/data';

interface Said {
  notice: QueryResultMetaNotice;
  at: number;
}

/**
 * What a panel says in its corner.
 *
 * A stream repeats what it says with new counts, so of those that differ in their numbers only the last stays, and of
 * all only the newest `MOST`. A notice goes when every row that was there before it has left the panel.
 */
export class Notices {
  private readonly said = new Map<string, Said>();

  add(notices: QueryResultMetaNotice[], now: number): void {
    for (const notice of notices) {
      const kind = `${notice.severity} ${notice.text.replace(/\d+/g, '#')}`;
      this.said.delete(kind);
      this.said.set(kind, { notice, at: now });
    }
    for (const kind of this.said.keys()) {
      if (this.said.size <= MOST) {
        break;
      }
      this.said.delete(kind);
    }
  }

  /** Returns the notices from `since` on, oldest first, and forgets nothing: another panel may show older rows. */
  since(since: number): QueryResultMetaNotice[] {
    return [...this.said.values()].filter(({ at }) => at >= since).map(({ notice }) => notice);
  }

  clear(): void {
    this.said.clear();
  }
}

const MOST = 8;

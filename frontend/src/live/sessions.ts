import { type Answer, type Ask, Session } from './session';

/**
 * The streams that the panels of this page show of one data source.
 *
 * Grafana makes the data source anew when its settings change, and what came from the old one stays there.
 */
export class Sessions {
  /** How many streams are open in the page, of all data sources. */
  static total = 0;

  private readonly open = new Map<string, Session>();
  /** The key of the stream that a query had last. */
  private readonly keys = new Map<string, string>();

  /** Returns the session of the stream that the answer to `query` names, a new one where none lives. */
  of(uid: string, query: string, answer: Answer & Required<Pick<Answer, 'link'>>, ask: Ask): Session {
    const { key } = answer.link;
    this.keys.set(query, key);
    const living = this.open.get(key);
    if (living) {
      living.refresh(answer, ask);
      return living;
    }
    const session = new Session(uid, answer.link, answer, ask, () => {
      this.open.delete(key);
      this.keys.forEach((of, query) => of === key && this.keys.delete(query));
      Sessions.total--;
    });
    this.open.set(key, session);
    Sessions.total++;
    return session;
  }

  /** Returns the session that a query had before; an answer that failed names none. */
  before(query: string): Session | undefined {
    return this.open.get(this.keys.get(query) ?? '');
  }
}

import { type Answer, type Ask, Session } from './session';

/** The streams that the panels of this page show. */
export class Sessions {
  private readonly open = new Map<string, Session>();

  get size(): number {
    return this.open.size;
  }

  /** Returns the session of the stream that an answer names, a new one where none lives. */
  of(uid: string, answer: Answer & Required<Pick<Answer, 'link'>>, ask: Ask): Session {
    const key = `${uid}/${answer.link.key}`;
    const living = this.open.get(key);
    if (living) {
      living.refresh(answer, ask);
      return living;
    }
    const session = new Session(uid, answer.link, answer, ask, () => this.open.delete(key));
    this.open.set(key, session);
    return session;
  }
}

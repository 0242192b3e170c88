import { Observable, shareReplay } from 'rxjs';

const TICK_MS = 100;
const TOO_LATE_MS = 150;

/** Says whether the main thread keeps up: a timer of 100 ms that comes over 150 ms late means no. */
export function lagOfMainThread(): Observable<boolean> {
  return new Observable<boolean>((subscriber) => {
    let due = performance.now() + TICK_MS;
    subscriber.next(true);
    const timer = setInterval(() => {
      const now = performance.now();
      subscriber.next(now - due < TOO_LATE_MS);
      due = now + TICK_MS;
    }, TICK_MS);
    return () => clearInterval(timer);
  }).pipe(shareReplay({ bufferSize: 1, refCount: true }));
}

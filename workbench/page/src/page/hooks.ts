import { useSyncExternalStore } from 'react';
import { BehaviorSubject } from 'rxjs';

/** Draws anew whenever `subject` has a new value. */
export function useValue<T>(subject: BehaviorSubject<T>): T {
  return useSyncExternalStore(
    (onChange) => {
      const subscription = subject.subscribe(onChange);
      return () => subscription.unsubscribe();
    },
    () => subject.value
  );
}

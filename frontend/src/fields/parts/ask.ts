import { useState } from 'react';

/** Something that the process is asked when a button is pressed. */
export interface Asked<T> {
  running: boolean;
  answer?: T;
  /** What went wrong, in the words of the process. */
  error?: string;
  run(): void;
  /** Drops the answer. */
  forget(): void;
}

interface State<T> extends Pick<Asked<T>, 'running' | 'answer' | 'error'> {
  subject: string;
}

/** Asks about `subject` on request; the answer is dropped once the subject is another. */
export function useAsk<T>(subject: string, ask: () => Promise<T>): Asked<T> {
  const [state, setState] = useState<State<T>>();
  const known = state?.subject === subject ? state : undefined;

  const run = () => {
    const mine: State<T> = { subject, running: true };
    const settle = (found: Pick<State<T>, 'answer' | 'error'>) => {
      setState((last) => (last === mine ? { subject, running: false, ...found } : last));
    };
    setState(mine);
    ask().then(
      (answer) => settle({ answer }),
      (error: Error) => settle({ error: error.message })
    );
  };
  return {
    running: known?.running ?? false,
    answer: known?.answer,
    error: known?.error,
    run,
    forget: () => setState(undefined),
  };
}

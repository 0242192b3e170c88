import { useEffect, useRef, useState } from 'react';

import { type DataSource } from '../../datasource';

/** How many topics one look into the list shows; more typed letters find the rest. */
export const SHOWN = 100;
/** How long typing has to pause before Kafka is asked. */
const PAUSE_MS = 250;

interface Found {
  topics: string[];
  /** There may be more topics than these. */
  cut?: boolean;
  loading: boolean;
  error?: string;
}

/** Looks for topics whose name contains what is typed; only the answer to the last text counts. */
export function useTopicSearch(datasource: DataSource): Found & { search(text: string): void } {
  const [found, setFound] = useState<Found>({ topics: [], loading: false });
  const turn = useRef(0);

  useEffect(
    () => () => {
      turn.current += 1;
    },
    []
  );

  const search = (text: string) => {
    turn.current += 1;
    const mine = turn.current;
    const settle = (next: Found) => {
      if (mine === turn.current) {
        setFound(next);
      }
    };
    setFound({ ...found, loading: true });
    setTimeout(
      () => {
        if (mine === turn.current) {
          datasource.topics({ search: text, limit: SHOWN }).then(
            (topics) => settle({ topics, cut: topics.length >= SHOWN, loading: false }),
            (error: Error) => settle({ topics: [], loading: false, error: error.message })
          );
        }
      },
      text === '' ? 0 : PAUSE_MS
    );
  };

  return { ...found, search };
}

import { getTemplateSrv } from '@grafana/runtime';
import { useEffect, useState } from 'react';

import { type DataSource } from '../../datasource';

interface Answer {
  topic: string;
  attempt: number;
  partitions?: number[];
  error?: string;
}

export interface Partitions {
  /** Absent until Kafka has answered. */
  list?: number[];
  loading: boolean;
  /** Why there is no list, in words. */
  error?: string;
  /** Asks again, where the last answer was an error. */
  retry(): void;
}

/** Loads the partitions of the chosen topic, whenever another is chosen. */
export function usePartitions(datasource: DataSource, saved: string): Partitions {
  const topic = getTemplateSrv().replace(saved).trim();
  const [attempt, setAttempt] = useState(0);
  const [answer, setAnswer] = useState<Answer>();

  useEffect(() => {
    if (topic === '') {
      return;
    }
    let current = true;
    const settle = (found: Pick<Answer, 'partitions' | 'error'>) => {
      if (current) {
        setAnswer({ topic, attempt, ...found });
      }
    };
    datasource.partitions(topic).then(
      (partitions) => settle({ partitions }),
      (error: Error) => settle({ error: error.message })
    );
    return () => {
      current = false;
    };
  }, [datasource, topic, attempt]);

  const known = topic !== '' && answer?.topic === topic ? answer : undefined;
  return {
    list: known?.partitions,
    loading: topic !== '' && known?.attempt !== attempt,
    error: known?.error,
    retry: () => {
      if (known?.error !== undefined) {
        setAttempt(attempt + 1);
      }
    },
  };
}

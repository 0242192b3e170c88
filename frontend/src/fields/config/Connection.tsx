import React from 'react';

import { text } from '../parts/lenient';
import { brokers } from './check';
import { TextSetting } from './parts';
import { type SectionProps } from './settings';

/** Where Kafka is, and under which names this data source reads. */
export function Connection({ settings, set, readOnly }: SectionProps) {
  const servers = text(settings.bootstrapServers);
  return (
    <>
      <TextSetting
        label="Bootstrap servers"
        required
        help="One or more brokers of the cluster, with commas between them. The others are found through these. Without a port, 9092 is used."
        placeholder="kafka-1:9092, kafka-2:9092"
        value={servers}
        error={brokers(servers)}
        onChange={(bootstrapServers) => set({ bootstrapServers })}
        readOnly={readOnly}
      />
      <TextSetting
        label="Client id"
        help="The name under which this data source appears in Kafka’s logs, quotas and metrics."
        placeholder="streamscope"
        value={text(settings.clientId)}
        onChange={(clientId) => set({ clientId })}
        readOnly={readOnly}
      />
      <TextSetting
        label="Group id"
        help="A consumer group that this data source may name, where access rules ask for one. The group is never joined and nothing is ever committed to it."
        placeholder="streamscope"
        value={text(settings.groupId)}
        onChange={(groupId) => set({ groupId })}
        readOnly={readOnly}
      />
    </>
  );
}

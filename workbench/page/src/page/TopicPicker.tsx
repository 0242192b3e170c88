import { getBackendSrv } from '@grafana/runtime';
import { DataQuery } from '@grafana/schema';
import { Select } from '@grafana/ui';
import React, { useEffect, useState } from 'react';
import { Dashboard, Panel } from '../dashboard';
import { PanelType } from '../panels/types';

/** A topic of the demo's Kafka, and the panel that shows it. */
interface Example {
  topic: string;
  text: string;
  kind: PanelType;
  query: Partial<DataQuery>;
}

/** Offers the demo's topics, each with the panel that its format asks for; a Kafka of one's own has none. */
export function TopicPicker({ dashboard, onAdd }: { dashboard: Dashboard; onAdd: (panel: Panel) => void }) {
  const [examples, setExamples] = useState<Example[]>([]);
  useEffect(() => {
    const listed = getBackendSrv().get<Example[]>('/workbench/examples');
    listed.then(setExamples).catch((error: unknown) => console.error(error));
  }, []);
  if (examples.length === 0) {
    return null;
  }
  const add = ({ topic, kind, query }: Example) =>
    onAdd(dashboard.addPanel(kind, topic, { ...query, topicName: topic, autoOffsetReset: 'lastN', lastN: LAST[kind] }));
  return (
    <Select
      aria-label="Show a demo topic"
      placeholder="Show a demo topic"
      options={examples.map((example) => ({ value: example, label: example.topic, description: example.text }))}
      value={null}
      onChange={({ value }) => value && add(value)}
      width={32}
    />
  );
}

/** How many records a new panel begins with. */
const LAST: Record<PanelType, number> = { timeseries: 600, table: 50 };

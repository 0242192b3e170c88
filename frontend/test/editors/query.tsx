import { type DataFrame, LoadingState, type PanelData } from '@grafana/data';
import { setTemplateSrv } from '@grafana/runtime';
import { render, screen } from '@testing-library/react';
import userEvent, { type UserEvent } from '@testing-library/user-event';
import React, { useState } from 'react';

import { type DataSource } from '../../src/datasource';
import { QueryEditor } from '../../src/QueryEditor';
import { type DetectAnswer, type KafkaQuery } from '../../src/types';

/** What stands for Kafka behind the editor. */
export interface TestKafka {
  topics?(search: string): string[];
  partitions?(topic: string): number[];
  /** What the process says of a schema, or of the registry. */
  validate?(what: string): string;
  detect?(): DetectAnswer;
  hasRegistry?: boolean;
}

const KAFKA: Required<TestKafka> = {
  topics: (search) => ['orders', 'orders.eu', 'payments'].filter((topic) => topic.includes(search)),
  partitions: (topic) => {
    if (topic === 'nothing') {
      throw new Error('topic nothing not found');
    }
    return [0, 1, 2];
  },
  validate: () => 'Schema is valid',
  detect: () => ({ topic: 'orders', records: 0 }),
  hasRegistry: true,
};

/** The editor of one query in a panel, and what it did. */
export class Editor {
  readonly user: UserEvent = userEvent.setup({ delay: null, pointerEventsCheck: 0 });
  /** The query after each change. */
  readonly changes: KafkaQuery[] = [];
  /** One entry for each time the query was run. */
  readonly runs: KafkaQuery[] = [];
  /** What Kafka was asked. */
  readonly asked: string[] = [];

  constructor(query: Partial<KafkaQuery>, kafka: TestKafka = {}, columns: string[] = []) {
    setTemplateSrv({
      replace: (text = '') => text.replace('$topic', 'orders'),
      getVariables: () => [{ name: 'topic' }, { name: 'n' }],
    } as never);
    const answer = { ...KAFKA, ...kafka };
    const datasource = {
      topics: async ({ search }: { search: string }) => {
        this.asked.push(`topics ${search}`);
        return answer.topics(search);
      },
      partitions: async (topic: string) => {
        this.asked.push(`partitions ${topic}`);
        return answer.partitions(topic);
      },
      validateSchema: async (format: string, schema: string) => {
        this.asked.push(`validate ${format} ${schema}`);
        return answer.validate(schema);
      },
      validateRegistry: async () => {
        this.asked.push('validate registry');
        return answer.validate('registry');
      },
      detect: async ({ topicName, partition }: KafkaQuery) => {
        this.asked.push(`detect ${topicName} ${partition}`);
        return answer.detect();
      },
      hasRegistry: answer.hasRegistry,
    };
    render(<Panel editor={this} saved={{ refId: 'A', topicName: '', ...query }} datasource={datasource as never} columns={columns} />);
  }

  get last(): KafkaQuery | undefined {
    return this.changes.at(-1);
  }

  control(label: string): HTMLElement {
    return screen.getByLabelText(label);
  }

  /** Chooses from the list of this label by what stands in it. */
  async choose(label: string, option: string): Promise<void> {
    await this.user.click(this.control(label));
    await this.user.click(await screen.findByRole('option', { name: new RegExp(`^${option}`) }));
  }

  /** Writes into the field of this label, and presses these keys. */
  async write(label: string, text: string, keys = '{Enter}'): Promise<void> {
    const control = this.control(label);
    await this.user.click(control);
    if (control.getAttribute('role') !== 'combobox') {
      await this.user.clear(control);
    }
    await this.user.keyboard(text.replace(/[{[]/g, '$&$&') + keys);
  }

  async openOptions(): Promise<void> {
    for (const button of screen.getAllByRole('button', { name: /ptions/, expanded: false })) {
      await this.user.click(button);
    }
  }

  async press(name: string): Promise<void> {
    await this.user.click(screen.getByRole('button', { name }));
  }
}

interface PanelProps {
  editor: Editor;
  saved: KafkaQuery;
  datasource: DataSource;
  columns: string[];
}

function Panel({ editor, saved, datasource, columns }: PanelProps) {
  const [query, setQuery] = useState(saved);
  const fields = ['time', 'partition', 'offset', ...columns].map((name) => ({ name }));
  const data = { state: LoadingState.Streaming, series: [{ refId: 'A', fields } as unknown as DataFrame] } as PanelData;
  return (
    <QueryEditor
      query={query}
      datasource={datasource}
      data={data}
      onChange={(changed) => {
        editor.changes.push(changed);
        setQuery(changed);
      }}
      onRunQuery={() => {
        editor.runs.push(query);
      }}
    />
  );
}

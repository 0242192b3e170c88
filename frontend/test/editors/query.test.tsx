import { screen, waitFor } from '@testing-library/react';

import contract from '../../../tests/contract/queries.json';
import { type KafkaQuery } from '../../src/types';
import { Editor } from './query';

const PEER: Partial<KafkaQuery> = {
  topicName: 'orders',
  partition: 'all',
  autoOffsetReset: 'latest',
  timestampMode: 'message',
  lastN: 100,
  messageFormat: 'avro',
  avroSchemaSource: 'inlineSchema',
  avroSchema: '{"type":"long"}',
  protobufSchemaSource: 'schemaRegistry',
  protobufSchema: '',
  keyFormat: 'none',
  lineProtocolTimestampPrecision: 'auto',
  lineProtocolMeasurements: 'cpu',
  alias: 'a',
};

/** Waits until what was under way has come to rest. */
async function settle() {
  await waitFor(() => undefined);
  await new Promise((resolve) => setTimeout(resolve, 20));
}

describe('a saved query', () => {
  const good = contract.filter((example) => !('error' in example));
  it.each([{ name: 'a new query', query: {} }, { name: 'Avro', query: PEER }, ...good])('opens unchanged: $name', async ({ query }) => {
    const editor = new Editor(query as Partial<KafkaQuery>);
    await editor.openOptions();
    await settle();
    expect(editor.changes).toEqual([]);
    expect(editor.runs).toEqual([]);
  });

  it('shows what it holds', async () => {
    const editor = new Editor({ ...PEER, partition: 2, autoOffsetReset: 'lastN', lastN: 25, timestampMode: 'now' });
    expect(screen.getByText('orders')).toBeVisible();
    expect(screen.getByText('2')).toBeVisible();
    expect(screen.getByRole('radio', { name: 'Last N' })).toBeChecked();
    expect(editor.control('Records per partition')).toHaveValue('25');
    expect(screen.getByText('Avro')).toBeVisible();
    expect(screen.getByText('Inline schema')).toBeVisible();
    expect(editor.control('Schema')).toHaveValue('{"type":"long"}');
    expect(screen.getByText('Arrival')).toBeVisible();
    await settle();
  });

  it('keeps the keys that have no control', async () => {
    const editor = new Editor(PEER);
    await editor.choose('Key', 'Text');
    expect(editor.last).toEqual({ refId: 'A', ...PEER, keyFormat: 'string' });
  });

  it('shows numbers and booleans that were written as text', async () => {
    const editor = new Editor({ topicName: 'orders', partition: '1', headers: 'true', pacing: 'false' } as never);
    await editor.openOptions();
    await settle();
    expect(screen.getByText('1')).toBeVisible();
    expect(editor.control('Headers')).toBeChecked();
    expect(editor.control('Pace the stream')).not.toBeChecked();
  });
});

interface Case {
  name: string;
  query?: Partial<KafkaQuery>;
  act(editor: Editor): Promise<void>;
  /** The keys that differ afterwards; `undefined` for one that is gone. */
  patch: Partial<KafkaQuery>;
  options?: boolean;
}

const CASES: Case[] = [
  { name: 'a topic of the list', act: (e) => e.choose('Topic', 'payments'), patch: { topicName: 'payments' } },
  { name: 'a topic written out', act: (e) => e.write('Topic', 'brand.new'), patch: { topicName: 'brand.new' } },
  { name: 'a topic by variable', act: (e) => e.choose('Topic', '\\$topic'), patch: { topicName: '$topic' } },
  { name: 'a topic with a variable in it', act: (e) => e.write('Topic', 'a.${topic}'), patch: { topicName: 'a.${topic}' } },
  { name: 'one partition', act: (e) => e.choose('Partition', '1'), patch: { partition: 1 } },
  { name: 'all partitions', query: { partition: 1 }, act: (e) => e.choose('Partition', 'All'), patch: { partition: 'all' } },
  { name: 'a partition by variable', act: (e) => e.choose('Partition', '\\$n'), patch: { partition: '$n' } },
  { name: 'a partition written out', act: (e) => e.write('Partition', '7'), patch: { partition: 7 } },
  { name: 'earliest', act: (e) => e.user.click(e.control('Earliest')), patch: { autoOffsetReset: 'earliest' } },
  { name: 'last N', act: (e) => e.user.click(e.control('Last N')), patch: { autoOffsetReset: 'lastN', lastN: 100 } },
  {
    name: 'latest, which has no N',
    query: { autoOffsetReset: 'lastN', lastN: 9 },
    act: (e) => e.user.click(e.control('Latest')),
    patch: { autoOffsetReset: 'latest', lastN: undefined },
  },
  { name: 'N', query: { autoOffsetReset: 'lastN' }, act: (e) => e.write('Records per partition', '25'), patch: { lastN: 25 } },
  {
    name: 'N by variable',
    query: { autoOffsetReset: 'lastN' },
    act: (e) => e.write('Records per partition', '$n', '{Tab}'),
    patch: { lastN: '$n' },
  },
  { name: 'plain text', act: (e) => e.choose('Message format', 'Plain text'), patch: { messageFormat: 'plaintext' } },
  { name: 'away from Avro', query: { messageFormat: 'avro' }, act: (e) => e.choose('Message format', 'JSON'), patch: { messageFormat: 'json' } },
  { name: 'keys', act: (e) => e.choose('Key', 'Base64'), patch: { keyFormat: 'base64' } },
  { name: 'headers', act: (e) => e.user.click(e.control('Headers')), patch: { headers: true } },
  { name: 'arrival time', act: (e) => e.choose('Time', 'Arrival'), patch: { timestampMode: 'now' } },
  {
    name: 'a field’s time',
    act: async (e) => {
      await e.choose('Time', 'Field');
      await e.write('Time field', 'meta.at');
    },
    patch: { timeField: 'meta.at', timestampMode: 'message' },
  },
  {
    name: 'the record’s time instead of a field’s',
    query: { timeField: 'at', timeUnit: 'ns' },
    act: (e) => e.choose('Time', 'Record'),
    patch: { timestampMode: 'message', timeField: undefined, timeUnit: undefined },
  },
  { name: 'a unit', query: { timeField: 'at' }, act: (e) => e.choose('Time unit', 'Nanoseconds'), patch: { timeUnit: 'ns' } },
  { name: 'an alias', options: true, act: (e) => e.write('Alias', '{{field}}'), patch: { alias: '{{field}}' } },
  { name: 'no alias', options: true, query: { alias: 'a' }, act: (e) => e.write('Alias', ''), patch: { alias: undefined } },
  { name: 'record columns', options: true, act: (e) => e.choose('Partition and offset', 'Never'), patch: { recordColumns: 'never' } },
  { name: 'uncommitted records', options: true, act: (e) => e.choose('Transactions', 'All'), patch: { isolationLevel: 'readUncommitted' } },
  { name: 'no pacing', options: true, act: (e) => e.user.click(e.control('Pace the stream')), patch: { pacing: false } },
  { name: 'every record', options: true, act: (e) => e.user.click(e.control('Every record')), patch: { everyRecord: true } },
  {
    name: 'a column’s type',
    options: true,
    act: async (e) => {
      await e.user.click(screen.getByRole('button', { name: 'Add type' }));
      await e.write('New column', 'id');
    },
    patch: { fieldTypes: { id: 'number' } },
  },
  {
    name: 'another type',
    options: true,
    query: { fieldTypes: { id: 'number', ok: 'boolean' } },
    act: (e) => e.choose('Type of id', 'Text'),
    patch: { fieldTypes: { id: 'text', ok: 'boolean' } },
  },
  {
    name: 'another column',
    options: true,
    query: { fieldTypes: { id: 'text', ok: 'boolean' } },
    act: (e) => e.write('Column 1', 'uid'),
    patch: { fieldTypes: { uid: 'text', ok: 'boolean' } },
  },
  {
    name: 'no type any more',
    options: true,
    query: { fieldTypes: { id: 'text' } },
    act: (e) => e.user.click(screen.getByRole('button', { name: 'Remove the type of id' })),
    patch: { fieldTypes: undefined },
  },
];

describe('a control', () => {
  it.each(CASES)('changes its keys and runs the query once: $name', async ({ query = {}, act, patch, options }) => {
    const saved = { refId: 'A', topicName: 'orders', partition: 'all', avroSchema: 'kept', ...query };
    const editor = new Editor(saved as Partial<KafkaQuery>);
    await settle();
    if (options) {
      await editor.openOptions();
    }
    await act(editor);
    await settle();
    const want: Record<string, unknown> = { ...saved, ...patch };
    for (const key of Object.keys(want)) {
      if (want[key] === undefined) {
        delete want[key];
      }
    }
    expect(editor.changes).toStrictEqual([want]);
    expect(editor.runs).toHaveLength(1);
  });

  it.each<[string, Partial<KafkaQuery>, (editor: Editor) => Promise<void>]>([
    ['the same topic', {}, (e) => e.write('Topic', 'orders')],
    ['the same N', { autoOffsetReset: 'lastN', lastN: 5 }, (e) => e.write('Records per partition', '5')],
    ['a field that is not named yet', {}, (e) => e.choose('Time', 'Field')],
    ['the format it has', {}, (e) => e.choose('Message format', 'JSON')],
    ['typing without an end', { autoOffsetReset: 'lastN' }, (e) => e.write('Records per partition', '12345', '')],
    ['typing that is taken back', { autoOffsetReset: 'lastN' }, (e) => e.write('Records per partition', '12345', '{Escape}{Tab}')],
    ['half a word that narrows the topics down', {}, async (e) => {
      await e.write('Topic', 'pay', '');
      await e.user.click(document.body);
    }],
  ])('changes nothing: %s', async (_, query, act) => {
    const editor = new Editor({ topicName: 'orders', ...query });
    await settle();
    await act(editor);
    await settle();
    expect(editor.changes).toEqual([]);
    expect(editor.runs).toEqual([]);
  });

  it.each(['0', '1000001', '1.5', '-3', 'many', ''])('says what N can be: %j', async (text) => {
    const editor = new Editor({ topicName: 'orders', autoOffsetReset: 'lastN', lastN: 5 });
    await editor.write('Records per partition', text);
    expect(screen.getByRole('alert')).toHaveTextContent('A whole number from 1 to 1,000,000, or a variable such as $n');
    expect(editor.changes).toEqual([]);
    await settle();
  });
});

describe('the topic', () => {
  it('is looked for once typing pauses', async () => {
    const editor = new Editor({});
    await editor.write('Topic', 'EU', '');
    await waitFor(() => expect(editor.asked).toContain('topics EU'));
    expect(editor.asked).toEqual(['topics ', 'topics EU']);
  });

  it('is taken as written when the field is left, if it is like no other', async () => {
    const editor = new Editor({});
    await editor.write('Topic', 'brand.new', '');
    await editor.user.click(document.body);
    expect(editor.last?.topicName).toBe('brand.new');
    await settle();
  });

  it('can be written where Kafka cannot be reached, which is said', async () => {
    const unreachable = () => {
      throw new Error('kafka-1:9092: connection refused');
    };
    const editor = new Editor({}, { topics: unreachable, partitions: unreachable });
    await editor.user.click(editor.control('Topic'));
    expect(await screen.findByRole('alert')).toHaveTextContent('kafka-1:9092: connection refused');
    await editor.user.keyboard('orders{Enter}');
    expect(editor.last?.topicName).toBe('orders');
    await settle();
  });

  it('is one of more than the list shows, which is said', async () => {
    const editor = new Editor({}, { topics: () => Array.from({ length: 100 }, (_, at) => `t${at}`) });
    await editor.user.click(editor.control('Topic'));
    expect(await screen.findByText(/first 100 topics/)).toBeVisible();
  });

  it('is said to be missing', async () => {
    new Editor({ topicName: 'nothing' });
    expect(await screen.findByRole('alert')).toHaveTextContent('topic nothing not found');
  });

  it('fills its variable in before Kafka is asked', async () => {
    const editor = new Editor({ topicName: '$topic' });
    await waitFor(() => expect(editor.asked).toEqual(['partitions orders']));
  });
});

describe('the partitions', () => {
  it('are loaded with the topic, and again with another', async () => {
    const editor = new Editor({ topicName: 'orders' });
    await waitFor(() => expect(editor.asked).toEqual(['partitions orders']));
    await editor.write('Topic', 'payments');
    await waitFor(() => expect(editor.asked.at(-1)).toBe('partitions payments'));
    await editor.user.click(editor.control('Partition'));
    const options = await screen.findAllByRole('option');
    expect(options.map(({ textContent }) => textContent?.replace(/Every.*|Dashboard.*/, ''))).toEqual(['All', '0', '1', '2', '$topic', '$n']);
  });

  it('say that the chosen one is not there', async () => {
    new Editor({ topicName: 'orders', partition: 9 });
    expect(await screen.findByRole('alert')).toHaveTextContent('There is no partition 9, only 0 to 2');
  });

  it('are asked for again after an error', async () => {
    let up = false;
    const editor = new Editor(
      { topicName: 'orders' },
      {
        partitions: () => {
          if (!up) {
            throw new Error('down');
          }
          return [0];
        },
      }
    );
    expect(await screen.findByRole('alert')).toHaveTextContent('down');
    up = true;
    await editor.choose('Partition', '0');
    expect(editor.last?.partition).toBe(0);
    expect(screen.queryByRole('alert')).toBeNull();
  });
});

describe('the options', () => {
  it('say what is set while they are folded', () => {
    new Editor({ alias: 'x', recordColumns: 'auto', fieldTypes: { id: 'text' }, pacing: false, isolationLevel: 'readUncommitted' });
    expect(screen.getByRole('button', { name: /^Options/ })).toHaveTextContent('alias x · types of id · uncommitted records too · not paced');
  });

  it('offer the columns of the last answer', async () => {
    const editor = new Editor({ topicName: 'orders' }, {}, ['value', 'meta.at']);
    await editor.choose('Time', 'Field');
    await editor.choose('Time field', 'meta.at');
    expect(editor.last?.timeField).toBe('meta.at');
    await settle();
  });

  it('have every record only where a stream could skip', async () => {
    const editor = new Editor({ topicName: 'orders', autoOffsetReset: 'earliest' });
    await editor.openOptions();
    expect(screen.queryByLabelText('Every record')).toBeNull();
    await settle();
  });
});

it('has help at every control', async () => {
  const editor = new Editor({ topicName: 'orders', autoOffsetReset: 'lastN', timeField: 'at' });
  await editor.openOptions();
  await settle();
  const helps = screen.getAllByLabelText('Help').map((help) => help.previousElementSibling?.textContent);
  expect(helps).toEqual([
    'Topic',
    'Partition',
    'Start at',
    'Records per partition',
    'Message format',
    'Key',
    'Headers',
    'Time',
    'Time field',
    'Time unit',
    'Alias',
    'Partition and offset',
    'Column types',
    'Transactions',
    'Pace the stream',
  ]);
  await editor.user.hover(screen.getAllByLabelText('Help')[0] as HTMLElement);
  expect(await screen.findByRole('tooltip')).toHaveTextContent('The Kafka topic to read');
});

import { config } from '@grafana/runtime';
import { screen, waitFor, within } from '@testing-library/react';

import { type DetectAnswer, type KafkaQuery } from '../../src/types';
import { Editor } from './query';

// jsdom's files have no such method yet.
Blob.prototype.text ??= function (this: Blob) {
  return new Promise((resolve) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result as string);
    reader.readAsText(this);
  });
};

const LONG = '{"type":"long"}';
const AVRO: Partial<KafkaQuery> = { messageFormat: 'avro', avroSchemaSource: 'inlineSchema', avroSchema: LONG };
const PROTO: Partial<KafkaQuery> = { messageFormat: 'protobuf', protobufSchemaSource: 'inlineSchema', protobufSchema: 'message A {}' };
const KEY: Partial<KafkaQuery> = { keyFormat: 'protobuf', keySchemaSource: 'inlineSchema', keySchema: 'message K {}' };
const LINES: Partial<KafkaQuery> = { messageFormat: 'lineprotocol' };

interface Case {
  name: string;
  query?: Partial<KafkaQuery>;
  act(editor: Editor): Promise<void>;
  patch: Partial<KafkaQuery>;
}

function upload(editor: Editor, label: string, name: string, text: string) {
  return editor.user.upload(editor.control(label), new File([text], name));
}

const CASES: Case[] = [
  { name: 'Avro', act: (e) => e.choose('Message format', 'Avro'), patch: { messageFormat: 'avro' } },
  { name: 'Protobuf', act: (e) => e.choose('Message format', 'Protobuf'), patch: { messageFormat: 'protobuf' } },
  { name: 'line protocol', act: (e) => e.choose('Message format', 'Line protocol'), patch: { messageFormat: 'lineprotocol' } },
  { name: 'Avro inline', query: { messageFormat: 'avro' }, act: (e) => e.choose('Schema source', 'Inline'), patch: { avroSchemaSource: 'inlineSchema' } },
  { name: 'Avro by registry', query: AVRO, act: (e) => e.choose('Schema source', 'Schema registry'), patch: { avroSchemaSource: 'schemaRegistry' } },
  { name: 'Protobuf inline', query: { messageFormat: 'protobuf' }, act: (e) => e.choose('Schema source', 'Inline'), patch: { protobufSchemaSource: 'inlineSchema' } },
  { name: 'an Avro schema', query: AVRO, act: (e) => e.write('Schema', '["null",\n"long"]', '{Tab}'), patch: { avroSchema: '["null",\n"long"]' } },
  { name: 'a schema by Ctrl and Enter', query: AVRO, act: (e) => e.write('Schema', '"int"', '{Control>}{Enter}{/Control}'), patch: { avroSchema: '"int"' } },
  { name: 'a schema with a variable', query: AVRO, act: (e) => e.write('Schema', '${schema}', '{Tab}'), patch: { avroSchema: '${schema}' } },
  { name: 'no schema', query: AVRO, act: (e) => e.write('Schema', '', '{Tab}'), patch: { avroSchema: undefined } },
  { name: 'a Protobuf schema', query: PROTO, act: (e) => e.write('Schema', 'message B {}', '{Tab}'), patch: { protobufSchema: 'message B {}' } },
  { name: 'an .avsc file', query: AVRO, act: (e) => upload(e, 'Schema file', 'a.avsc', '\uFEFF"int"\n'), patch: { avroSchema: '"int"' } },
  { name: 'a .json file', query: AVRO, act: (e) => upload(e, 'Schema file', 'A.JSON', '"int"'), patch: { avroSchema: '"int"' } },
  { name: 'a .proto file', query: PROTO, act: (e) => upload(e, 'Schema file', 'a.proto', 'message C {}'), patch: { protobufSchema: 'message C {}' } },
  { name: 'a message type', query: PROTO, act: (e) => e.write('Message type', 'acme.A'), patch: { protobufMessage: 'acme.A' } },
  { name: 'no message type', query: { ...PROTO, protobufMessage: 'A' }, act: (e) => e.write('Message type', ''), patch: { protobufMessage: undefined } },
  { name: 'Avro keys', act: (e) => e.choose('Key', 'Avro'), patch: { keyFormat: 'avro' } },
  { name: 'an inline key schema', query: { keyFormat: 'avro' }, act: (e) => e.choose('Key schema source', 'Inline'), patch: { keySchemaSource: 'inlineSchema' } },
  { name: 'a key schema', query: KEY, act: (e) => e.write('Key schema', 'message L {}', '{Tab}'), patch: { keySchema: 'message L {}' } },
  { name: 'a key’s message type', query: KEY, act: (e) => e.write('Key message type', 'K'), patch: { keyProtobufMessage: 'K' } },
  { name: 'a framing', query: AVRO, act: (e) => e.choose('Framing', 'AWS Glue'), patch: { framing: 'glue' } },
  { name: 'bytes as hex', query: PROTO, act: (e) => e.choose('Bytes as', 'Hex'), patch: { bytesAs: 'hex' } },
  { name: 'a reader schema', query: AVRO, act: (e) => e.write('Reader schema', '"double"', '{Tab}'), patch: { avroReaderSchema: '"double"' } },
  { name: 'a subject strategy', query: { messageFormat: 'avro' }, act: (e) => e.choose('Subject', 'Explicit'), patch: { subjectStrategy: 'explicit' } },
  {
    name: 'a subject',
    query: { messageFormat: 'avro', subjectStrategy: 'explicit' },
    act: (e) => e.write('Subject name', 'x-$topic'),
    patch: { subject: 'x-$topic' },
  },
  {
    name: 'the topic’s subject, which has no name',
    query: { messageFormat: 'avro', subjectStrategy: 'explicit', subject: 'x' },
    act: (e) => e.choose('Subject', 'Topic(?! and)'),
    patch: { subjectStrategy: 'topic', subject: undefined },
  },
  { name: 'the wide layout', query: LINES, act: (e) => e.choose('Layout', 'Wide'), patch: { lineProtocolLayout: 'wide' } },
  { name: 'a precision', query: LINES, act: (e) => e.choose('Precision', 'Microseconds'), patch: { lineProtocolTimestampPrecision: 'us' } },
  { name: 'measurements', query: LINES, act: (e) => e.write('Measurements', 'cpu, $m'), patch: { lineProtocolMeasurements: 'cpu, $m' } },
  { name: 'fields', query: LINES, act: (e) => e.write('Fields', 'a'), patch: { lineProtocolFields: 'a' } },
  { name: 'tags', query: LINES, act: (e) => e.write('Tags', 'host=a.*'), patch: { lineProtocolTags: 'host=a.*' } },
  { name: 'no tags', query: { ...LINES, lineProtocolTags: 'a=b' }, act: (e) => e.write('Tags', ''), patch: { lineProtocolTags: undefined } },
];

/** Opens a saved query with all that is folded away. */
async function open(query: Partial<KafkaQuery>, kafka?: ConstructorParameters<typeof Editor>[1]) {
  const editor = new Editor({ topicName: 'orders', ...query }, kafka);
  await editor.openOptions();
  return editor;
}

describe('a control of a format', () => {
  it.each(CASES)('changes its keys and runs the query once: $name', async ({ query = {}, act, patch }) => {
    const editor = await open(query);
    await act(editor);
    await waitFor(() => expect(editor.changes).toHaveLength(1));
    const want = { refId: 'A', topicName: 'orders', ...query, ...patch };
    expect(editor.last).toStrictEqual(Object.fromEntries(Object.entries(want).filter(([, value]) => value !== undefined)));
    expect(editor.runs).toHaveLength(1);
  });

  it.each<[string, Partial<KafkaQuery>, (editor: Editor) => Promise<unknown>]>([
    ['a schema that is still typed', AVRO, (e) => e.write('Schema', '"in', '')],
    ['a new line in a schema', AVRO, (e) => e.write('Schema', '"in', '{Enter}"')],
    ['typing that is taken back', AVRO, (e) => e.write('Schema', '"int"', '{Escape}{Tab}')],
    ['a file with the same schema', AVRO, (e) => upload(e, 'Schema file', 'a.avsc', LONG)],
    ['the same filter', { ...LINES, lineProtocolTags: 'a=b' }, (e) => e.write('Tags', 'a=b')],
    ['validating', AVRO, (e) => e.press('Validate')],
    ['testing the registry', { messageFormat: 'avro' }, (e) => e.press('Test')],
    ['detecting', {}, (e) => e.press('Detect')],
  ])('changes nothing: %s', async (_, query, act) => {
    const editor = new Editor({ topicName: 'orders', ...query });
    await act(editor);
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect(editor.changes).toEqual([]);
    expect(editor.runs).toEqual([]);
  });

  it.each<[Partial<KafkaQuery>, string[]]>([
    [{}, []],
    [{ messageFormat: 'avro' }, ['Schema source', 'Framing', 'Subject', 'Bytes as', 'Reader schema']],
    [AVRO, ['Schema source', 'Schema', 'Framing', 'Bytes as', 'Reader schema']],
    [PROTO, ['Schema source', 'Message type', 'Schema', 'Framing', 'Bytes as']],
    [{ keyFormat: 'avro' }, ['Key schema source', 'Bytes as']],
    [KEY, ['Key schema source', 'Key message type', 'Key schema', 'Bytes as']],
    [{ messageFormat: 'avro', keyFormat: 'avro', subjectStrategy: 'record' }, ['Schema source', 'Key schema source', 'Framing', 'Subject', 'Record name', 'Bytes as', 'Reader schema']],
    [LINES, ['Layout', 'Precision', 'Measurements', 'Fields', 'Tags']],
  ])('is there only for what has it, with help: %j', async (query, want) => {
    await open(query);
    const always = ['Topic', 'Partition', 'Start at', 'Message format', 'Key', 'Headers', 'Time', 'Alias', 'Partition and offset', 'Column types', 'Transactions', 'Pace the stream', 'Every record'];
    const helps = screen.getAllByLabelText('Help').map((help) => help.previousElementSibling?.textContent ?? '');
    expect(helps.filter((label) => !always.includes(label))).toEqual(want);
  });
});

it('says while they are folded what the options of a schema are', () => {
  new Editor({ messageFormat: 'avro', framing: 'glue', subjectStrategy: 'explicit', subject: 's', bytesAs: 'hex', avroReaderSchema: '"int"' });
  expect(screen.getByRole('button', { name: /^Schema options/ })).toHaveTextContent('framing aws glue · subject s · bytes as hex · reader schema');
});

it('says that Glue’s framing needs an inline schema', async () => {
  await open({ messageFormat: 'avro', framing: 'glue' });
  expect(screen.getByRole('alert')).toHaveTextContent('AWS Glue’s framing needs an inline schema');
});

describe('a schema', () => {
  it.each([
    ['avro', AVRO, LONG],
    ['protobuf', PROTO, 'message A {}'],
  ])('of %s is compiled by the process, which has the word', async (format, query, schema) => {
    const editor = new Editor({ topicName: 'orders', ...query });
    await editor.press('Validate');
    expect(await screen.findByRole('status')).toHaveTextContent('Schema is valid');
    expect(editor.asked).toContain(`validate ${format} ${schema}`);
    await editor.write('Schema', 'other', '{Tab}');
    expect(screen.queryByRole('status')).toBeNull();
  });

  it('that was just typed is compiled with one click', async () => {
    const editor = new Editor({ topicName: 'orders', messageFormat: 'avro', avroSchemaSource: 'inlineSchema' });
    expect(screen.getByRole('button', { name: 'Validate' })).toBeDisabled();
    await editor.write('Schema', '"int"', '');
    await editor.press('Validate');
    expect(await screen.findByRole('status')).toHaveTextContent('Schema is valid');
    expect(editor.asked).toContain('validate avro "int"');
    expect(editor.changes).toHaveLength(1);
  });

  it('that is wrong has the process’s words at its field', async () => {
    const editor = new Editor({ topicName: 'orders', ...AVRO, keyFormat: 'avro', keySchemaSource: 'inlineSchema', keySchema: '"x"' }, {
      validate: (schema) => {
        throw new Error(`line 1: ${schema} is no type`);
      },
    });
    await editor.user.click(screen.getAllByRole('button', { name: 'Validate' })[1] as HTMLElement);
    expect(await screen.findByRole('alert')).toHaveTextContent('line 1: "x" is no type');
    expect(editor.control('Key schema')).toHaveAttribute('aria-invalid', 'true');
    expect(editor.control('Schema')).not.toHaveAttribute('aria-invalid', 'true');
  });

  it.each([
    ['a.txt', '"int"', '“a.txt” is no .avsc or .json file'],
    ['a.avsc', ' \n', '“a.avsc” is empty'],
    ['a.avsc', `"${'x'.repeat(5 * 1024 * 1024)}"`, 'more than 5 MB'],
  ])('is not taken from the file %s', async (name, text, want) => {
    const editor = new Editor({ topicName: 'orders', ...AVRO });
    // The browser's own filter can be switched off by whoever chooses the file.
    editor.control('Schema file').removeAttribute('accept');
    await upload(editor, 'Schema file', name, text);
    expect(await screen.findByRole('alert')).toHaveTextContent(want);
    expect(editor.changes).toEqual([]);
  });

  it.each([
    [60_000, undefined, false],
    [70_000, undefined, true],
    [70_000, 100_000, false],
    [70_000, -1, false],
  ])('of %i bytes under a limit of %s is said to be too large for live rows: %s', async (size, limit, large) => {
    (config as { liveMessageSizeLimit?: number }).liveMessageSizeLimit = limit;
    new Editor({ topicName: 'orders', ...AVRO, avroSchema: 'x'.repeat(size) });
    delete (config as { liveMessageSizeLimit?: number }).liveMessageSizeLimit;
    expect(screen.queryAllByText(/raise message_size_limit/)).toHaveLength(large ? 1 : 0);
  });
});

describe('the registry', () => {
  it('is tried on request', async () => {
    const editor = new Editor({ topicName: 'orders', messageFormat: 'avro' }, { validate: () => 'Schema registry is accessible' });
    await editor.press('Test');
    expect(await screen.findByRole('status')).toHaveTextContent('Schema registry is accessible');
  });

  it('that cannot be reached is said at its field', async () => {
    const refused = () => {
      throw new Error('http://r:8081: connection refused');
    };
    const editor = new Editor({ topicName: 'orders', keyFormat: 'avro' }, { validate: refused });
    await editor.press('Test');
    expect(await screen.findByRole('alert')).toHaveTextContent('http://r:8081: connection refused');
  });

  it('that the settings do not name is said to be missing', () => {
    new Editor({ topicName: 'orders', messageFormat: 'protobuf' }, { hasRegistry: false });
    expect(screen.getByText(/name no schema registry/)).toBeVisible();
  });
});

describe('Detect', () => {
  const FOUND: DetectAnswer = {
    topic: 'orders',
    records: 20,
    value: {
      format: 'avro',
      query: { messageFormat: 'avro', avroSchemaSource: 'schemaRegistry' },
      why: '5 bytes of Confluent framing, id 7 is Avro acme.Reading',
      alternatives: [{ format: 'plaintext', query: { messageFormat: 'plaintext' }, why: 'every value is text' }],
    },
    key: { format: 'string', query: { keyFormat: 'string' }, why: 'every key is text' },
    rows: { columns: ['time', 'value'], rows: [['2026-01-01', '1.5'], ['2026-01-02', null]] },
  };

  async function detect(found: DetectAnswer, query: Partial<KafkaQuery> = {}) {
    const editor = new Editor({ topicName: 'orders', ...query }, { detect: () => found });
    await editor.press('Detect');
    return { editor, box: await screen.findByRole('region', { name: 'What Detect found' }) };
  }

  it('shows what fits, why, and the first rows', async () => {
    const { editor, box } = await detect(FOUND, { partition: 2 });
    expect(editor.asked).toContain('detect orders 2');
    expect(box).toHaveTextContent('Looked at the last 20 records of orders');
    expect(within(box).getByRole('radio', { name: /^Avro/ })).toBeChecked();
    expect(box).toHaveTextContent('5 bytes of Confluent framing, id 7 is Avro acme.Reading');
    expect(box).toHaveTextContent('Text: every key is text');
    expect(within(box).getAllByRole('cell').map(({ textContent }) => textContent)).toEqual(['2026-01-01', '1.5', '2026-01-02', '']);
  });

  it('sets the keys of the query in one change, without those that would read it otherwise', async () => {
    const { editor, box } = await detect(FOUND, { framing: 'none', avroReaderSchema: '"x"', alias: 'a', bytesAs: 'hex' });
    await editor.press('Use this');
    expect(editor.changes).toStrictEqual([
      { refId: 'A', topicName: 'orders', alias: 'a', bytesAs: 'hex', messageFormat: 'avro', avroSchemaSource: 'schemaRegistry', keyFormat: 'string' },
    ]);
    expect(editor.runs).toHaveLength(1);
    expect(box).not.toBeInTheDocument();
  });

  it('lets another be chosen, whose rows it has not seen', async () => {
    const { editor, box } = await detect(FOUND);
    await editor.user.click(within(box).getByRole('radio', { name: /^Plain text/ }));
    expect(within(box).queryByRole('table')).toBeNull();
    await editor.press('Use this');
    expect(editor.last).toMatchObject({ messageFormat: 'plaintext', keyFormat: 'string' });
  });

  it('shows bytes that fit nothing', async () => {
    const { box } = await detect({ topic: 'orders', records: 1, value: null, key: null, hex: ['00 ff  ..'] });
    expect(box).toHaveTextContent('Looked at the only record of orders');
    expect(box).toHaveTextContent('No format fits this value. Its first bytes:');
    expect(box).toHaveTextContent('00 ff ..');
    expect(within(box).queryByRole('button', { name: 'Use this' })).toBeNull();
  });

  it('says that a topic is empty, and goes away', async () => {
    const { editor, box } = await detect({ topic: 'orders', records: 0 });
    expect(box).toHaveTextContent('orders holds no records to look at.');
    expect(box).not.toHaveTextContent('No format fits');
    await editor.press('Close');
    expect(box).not.toBeInTheDocument();
    expect(editor.changes).toEqual([]);
  });

  it('forgets what it found once the topic is another', async () => {
    const { editor, box } = await detect(FOUND);
    await editor.write('Topic', 'payments');
    expect(box).not.toBeInTheDocument();
  });

  it('says why it could not look', async () => {
    const editor = new Editor({ topicName: 'orders' }, {
      detect: () => {
        throw new Error('topic orders not found');
      },
    });
    await editor.press('Detect');
    expect(await screen.findByRole('alert')).toHaveTextContent('topic orders not found');
  });

  it('waits for a topic', () => {
    new Editor({});
    expect(screen.getByRole('button', { name: 'Detect' })).toBeDisabled();
  });
});

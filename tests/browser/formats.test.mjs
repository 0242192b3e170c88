// The editors of formats and schema registries, against the demo's topics: each is found out, read and shown.
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startDemo } from './demo.mjs';
import { startBrowser, until, Workbench } from './workbench.mjs';

const SERIES = 0;

/** A topic, what Detect says of it, and columns that only the right reading has. */
const TOPICS = [
  { topic: 'turbines', why: /Avro/, columns: ['power'] },
  { topic: 'rides', why: /Protobuf/, columns: ['taxi', 'at.lat'] },
  { topic: 'hosts', why: /Line protocol/, columns: ['value'] },
  { topic: 'logs', why: /Plain text/, columns: ['message'] },
];

let demo;
let browser;
before(async () => {
  demo = await startDemo();
  browser = await startBrowser();
});
after(async () => {
  await browser?.close();
  await demo?.stop();
});

for (const grafana of ['10', '13']) {
  describe(`Grafana ${grafana}`, { timeout: 900_000 }, () => {
    let bench;
    const open = async (options = {}) => {
      bench = await Workbench.open(browser, demo.url, { grafana, size: [1440, 1300], ...options });
      return bench.query('A');
    };
    /** Opens the page with the first panel on this topic, read as JSON. A range that is over keeps a slow machine free of streams. */
    const openTopic = async (topic, options) => {
      const query = await open(options);
      await bench.page.getByRole('button', { name: 'Zoom out time range' }).dispatchEvent('click');
      await bench.until(SERIES, 'a still time series', ({ state }) => state === 'Done');
      await bench.type(query, 'Topic', topic);
      await bench.until(SERIES, `${topic}`, about(topic));
      return query;
    };
    const about = (topic) => (shown) => shown.frames.length > 0 && shown.frames.every(({ name }) => name === topic);
    const rowsOf = (topic, columns) => (shown) =>
      about(topic)(shown) && shown.frames[0].rows > 0 && columns.every((name) => shown.frames[0].columns.includes(name));

    beforeEach(() => {
      bench = undefined;
    });
    afterEach(async () => {
      const errors = bench?.errors ?? [];
      await bench?.close();
      assert.deepEqual(errors, [], 'the console has errors');
    });

    for (const { topic, why, columns } of TOPICS) {
      test(`finds out how ${topic} is written`, async () => {
        const query = await openTopic(topic);
        await query.getByRole('button', { name: 'Detect' }).click();
        const found = query.getByRole('region', { name: 'What Detect found' });
        await found.waitFor();
        assert.match(await found.innerText(), why);
        assert.ok((await found.getByRole('row').count()) > 1, 'no rows are shown');
        await bench.picture(`detect-${topic}-${grafana}`);
        await query.getByRole('button', { name: 'Use this' }).click();
        await found.waitFor({ state: 'detached' });
        const shown = await bench.until(SERIES, `rows of ${topic}`, rowsOf(topic, columns));
        assert.ok(!shown.frames[0].columns.includes('_error'), `${topic} has ${shown.frames[0].columns}`);
      });
    }

    test('reads an inline schema that was pasted, once its field is left', async () => {
      const examples = await (await fetch(`${demo.url}/workbench/examples`)).json();
      const { avroSchema } = examples.find(({ topic }) => topic === 'weather').query;
      const query = await openTopic('weather');
      await bench.choose(query, 'Message format', 'Avro');
      await bench.choose(query, 'Schema source', 'Inline schema');
      const schema = query.getByLabel('Schema', { exact: true });
      const asked = bench.asked;
      await schema.fill(avroSchema);
      await sleep(500);
      assert.equal(bench.asked, asked, 'a query while someone types');
      await query.getByRole('button', { name: 'Validate' }).first().click();
      await query.getByRole('status').getByText('Schema is valid').waitFor();
      const shown = await bench.until(SERIES, 'rows of weather', rowsOf('weather', ['station', 'temperature']));
      assert.ok(!shown.frames[0].columns.includes('_error'));
      await bench.picture(`avro-inline-${grafana}`);
    });

    test('says what is wrong with a schema at its field', async () => {
      const query = await openTopic('weather');
      await bench.choose(query, 'Message format', 'Protobuf');
      await bench.choose(query, 'Schema source', 'Inline schema');
      await query.locator('input[type="file"]').setInputFiles({
        name: 'weather.proto',
        mimeType: 'text/plain',
        buffer: Buffer.from('syntax = "proto3";\nmessage Weather { strin station = 1; }\n'),
      });
      await until('the text of the file', () => query.getByLabel('Schema', { exact: true }).inputValue(), (text) => text.includes('strin'));
      await query.getByRole('button', { name: 'Validate' }).click();
      await query.getByRole('alert').getByText('strin').waitFor();
      await bench.picture(`protobuf-wrong-${grafana}`);
    });

    test('tries the registry from the query editor', async () => {
      const query = await openTopic('turbines');
      await bench.choose(query, 'Message format', 'Avro');
      await query.getByRole('button', { name: 'Test', exact: true }).click();
      await query.getByRole('status').getByText('accessible').waitFor();
    });

    test('tries the registry of the settings that are saved', async () => {
      await open({ page: 'datasource', size: [1440, 2200] });
      const { page } = bench;
      const button = page.getByRole('button', { name: 'Test registry' });
      const url = page.getByRole('textbox', { name: 'Registry URL' });
      const good = await url.inputValue();
      await button.click();
      await page.getByText('Schema registry is accessible').waitFor();
      await url.fill('http://no-such-host.invalid:8081');
      await page.getByText('Save first').waitFor();
      assert.ok(await button.isDisabled());
      await bench.picture(`registry-settings-${grafana}`);
      try {
        await page.getByRole('button', { name: 'Save & test' }).click();
        await until('the test again', () => button.isEnabled(), Boolean);
        await button.click();
        await page.getByText(/Cannot connect to schema registry.*no-such-host/).first().waitFor();
      } finally {
        await url.fill(good);
        await page.getByRole('button', { name: 'Save & test' }).click();
        await until('the test again', () => button.isEnabled(), Boolean);
      }
    });

    for (const theme of ['dark', 'light']) {
      test(`has editors that look right in the ${theme} theme`, async () => {
        const query = await openTopic('turbines', { theme });
        await bench.choose(query, 'Message format', 'Avro');
        await bench.choose(query, 'Key', 'Protobuf');
        await bench.choose(query, 'Key schema source', 'Inline schema');
        await query.getByRole('button', { name: /^Schema options/ }).click();
        await bench.choose(query, 'Subject', 'Explicit');
        await query.getByLabel('Subject name', { exact: true }).waitFor();
        await bench.picture(`schema-${grafana}-${theme}`);
        await bench.choose(query, 'Message format', 'Line protocol');
        await query.getByLabel('Layout', { exact: true }).waitFor();
        await bench.picture(`line-protocol-${grafana}-${theme}`);
        await bench.choose(bench.page, 'Show a demo topic', 'hosts');
        // Wide: a series a measurement, tag set and field, which a graph draws as it is.
        await bench.panel('hosts').getByText(/^cpu\.user\{.*web-1.*\}$/).first().waitFor();
        await bench.picture(`wide-${grafana}-${theme}`);
      });
    }
  });
}

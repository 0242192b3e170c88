// The released module.js in the browser side of Grafana 10 and 13, against a running plugin and broker.
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startDemo } from './demo.mjs';
import { startBrowser, until, Workbench } from './workbench.mjs';

/** What every Grafana from 10.2 on shares with plugins. */
const SHARED = [
  '@emotion/css',
  '@emotion/react',
  '@grafana/data',
  '@grafana/runtime',
  '@grafana/ui',
  'exports',
  'lodash',
  'module',
  'moment',
  'react',
  'react-dom',
  'rxjs',
  'rxjs/operators',
];
const SERIES = 0;
const TABLE = 1;

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
  describe(`Grafana ${grafana}`, { timeout: 300_000 }, () => {
    let bench;
    const open = async (options = {}) => {
      bench = await Workbench.open(browser, demo.url, { grafana, ...options });
      return bench;
    };
    const rows = (shown) => shown.frames.reduce((sum, frame) => sum + frame.rows, 0);
    const live = (shown) => shown.state === 'Streaming' && rows(shown) > 0;
    const about = (topic) => (shown) => live(shown) && shown.frames.every(({ name }) => name === topic);

    beforeEach(() => {
      bench = undefined;
    });
    afterEach(async () => {
      const errors = bench?.errors ?? [];
      await bench?.close();
      assert.deepEqual(errors, [], 'the console has errors');
    });

    test('shows live rows at once, in a time series and in a table', async () => {
      await open();
      const series = await bench.until(SERIES, 'a live time series', live);
      const table = await bench.until(TABLE, 'a live table', live);
      const plotted = series.frames[0].columns;
      assert.ok(!plotted.includes('partition') && !plotted.includes('offset'), `the series plots ${plotted}`);
      assert.ok(table.frames[0].columns.includes('offset'), `the table has ${table.frames[0].columns}`);

      await bench.panel('Sensors').locator('canvas').first().waitFor();
      await bench.panel('Sensors').getByText('temperature', { exact: true }).first().waitFor();
      const headers = bench.panel('Records').getByRole('columnheader');
      assert.deepEqual((await headers.allInnerTexts()).slice(0, 3).map((text) => text.trim()), ['time', 'partition', 'offset']);
      const cell = bench.panel('Records').getByRole(grafana === '10' ? 'cell' : 'gridcell').first();
      const before = await cell.innerText();
      await until('a newer first row', () => cell.innerText(), (text) => text !== before);
      await bench.until(SERIES, 'newer rows', (shown) => shown.frames[0].newest > series.frames[0].newest);
    });

    test('asks its Grafana only for what every Grafana shares', async () => {
      await open();
      await bench.until(SERIES, 'a live time series', live);
      const asked = await bench.page.evaluate(() => window.workbench.requestedModules);
      assert.ok(asked.includes('react'));
      assert.deepEqual(asked.filter((name) => !SHARED.includes(name)), []);
    });

    test('says in words when a plugin asks for react/jsx-runtime', async () => {
      const page = await browser.newPage();
      await page.route('**/module.js', (route) =>
        route.fulfill({ contentType: 'text/javascript', body: 'define(["react/jsx-runtime"], () => ({}));' })
      );
      await page.goto(`${demo.url}/?grafana=${grafana}`);
      await page.getByRole('alert').getByText('asks for "react/jsx-runtime"').waitFor();
      await page.close();
    });

    test('follows a topic that is picked, by a part of its name', async () => {
      await open();
      await bench.until(SERIES, 'a live time series', live);
      await bench.type(bench.query('A'), 'Topic', 'order');
      await bench.until(SERIES, 'rows of orders', about('orders'));
    });

    test('starts another stream when the format changes', async () => {
      await open();
      await bench.until(SERIES, 'a live time series', live);
      const before = [...bench.subscribed];
      await bench.choose(bench.query('A'), 'Message format', 'Plain text');
      const text = await bench.until(SERIES, 'plain text', (shown) => shown.frames[0]?.columns.includes('message'));
      assert.ok(!text.frames[0].columns.includes('temperature'));
      await until('a new stream', () => bench.subscribed, (all) => all.some((channel) => !before.includes(channel)));
    });

    test('starts another stream when the start changes', async () => {
      await open();
      await bench.until(SERIES, 'a live time series', live);
      const before = [...bench.subscribed];
      await bench.query('A').getByRole('radio', { name: 'Latest' }).check();
      await until('a new stream', () => bench.subscribed, (all) => all.some((channel) => !before.includes(channel)));
      const latest = await bench.until(SERIES, 'live rows', live);
      assert.ok(rows(latest) < 100, `latest begins with ${rows(latest)} rows`);
      await bench.query('A').getByRole('radio', { name: 'Earliest' }).check();
      await bench.until(SERIES, 'rows from before', (shown) => live(shown) && rows(shown) > 100);
    });

    test('says in words that a topic is not there', async () => {
      await open();
      await bench.until(SERIES, 'a live time series', live);
      await bench.type(bench.query('A'), 'Topic', 'no-such-topic');
      const { errors } = await bench.until(SERIES, 'an error', (shown) => shown.errors.length > 0);
      assert.match(errors[0], /no-such-topic/);
      await bench.panel('Sensors').getByLabel(/Panel status|no-such-topic/).first().hover();
      await bench.page.getByRole('tooltip').getByText('no-such-topic').waitFor();
      await bench.picture(`unknown-topic-${grafana}`);
    });

    test('shows notices beside the title', async () => {
      await open();
      await bench.until(SERIES, 'a live time series', live);
      await bench.type(bench.query('A'), 'Topic', 'logs');
      const { frames } = await bench.until(SERIES, 'a notice', (shown) => about('logs')(shown) && shown.notices.length > 0);
      assert.ok(frames[0].columns.includes('_error'), 'plain text is no JSON');
      const notice = bench.panel('Sensors').getByRole('note').first();
      await notice.hover();
      await bench.page.getByRole('tooltip').getByText('JSON').waitFor();
      await bench.picture(`notice-${grafana}`);
    });

    test('opens no stream while someone types', async () => {
      await open();
      await bench.until(SERIES, 'a live time series', live);
      await bench.until(TABLE, 'a live table', live);
      const streams = bench.subscribed.length;
      const asked = bench.asked;
      const count = bench.query('A').getByLabel('Records per partition', { exact: true });
      await count.press('ControlOrMeta+a');
      await count.pressSequentially('42', { delay: 80 });
      await sleep(500);
      assert.equal(bench.asked, asked, 'a query per keystroke');
      assert.equal(bench.subscribed.length, streams, 'a stream per keystroke');
      await count.press('Enter');
      await until('one stream', () => bench.subscribed.length, (now) => now > streams);
      await sleep(500);
      assert.equal(bench.asked, asked + 1);
      assert.equal(bench.subscribed.length, streams + 1);
    });

    test('keeps its stream and its rows over a refresh', async () => {
      await open();
      const first = await bench.until(SERIES, 'a live time series', live);
      await bench.until(TABLE, 'a live table', live);
      const streams = bench.subscribed.length;
      await bench.page.getByTestId(/RefreshPicker run button/).click();
      await until('another answer', () => bench.asked, (asked) => asked >= 4);
      const second = await bench.until(SERIES, 'live rows', (shown) => live(shown) && rows(shown) >= rows(first));
      assert.deepEqual(second.frames[0].columns, first.frames[0].columns);
      assert.equal(bench.subscribed.length, streams, 'a refresh opened a stream');
    });

    test('shows one stream in two panels', async () => {
      await open();
      await bench.query('A').getByRole('radio', { name: 'Latest' }).check();
      await bench.until(SERIES, 'a live time series', live);
      await bench.page.getByRole('button', { name: 'Add panel' }).click();
      const streams = bench.subscribed.length;
      await bench.type(bench.query('A'), 'Topic', 'sensors');
      await bench.until(2, 'a live panel', live);
      assert.equal(bench.subscribed.length, streams, 'the second panel opened a stream of its own');
    });

    test('has no stream for a range that is over', async () => {
      await open();
      await bench.until(SERIES, 'a live time series', live);
      await bench.page.getByRole('button', { name: 'Zoom out time range' }).click();
      await bench.until(SERIES, 'a still time series', (shown) => shown.state !== 'Streaming' && shown.state !== 'Loading');
      await until('the end of all streams', () => bench.channels(), (open) => open.length === 0, 45_000);
    });

    for (const [what, harm] of [
      ['the socket is cut', 'live/cut'],
      ['Grafana cuts off a slow viewer', 'live/cut?code=3008'],
      ['the plugin dies', 'plugin/kill'],
    ]) {
      test(`misses no record and shows none twice when ${what}`, async () => {
        await open();
        await bench.page.getByRole('radio', { name: 'Table' }).check();
        await bench.until(SERIES, 'a live table', live);
        await bench.harm(harm);
        const { frames } = await bench.shown(SERIES);
        await bench.until(SERIES, 'rows from after', (shown) => shown.frames[0]?.newest > frames[0].newest + 4_000, 60_000);
        const offsets = await bench.column(SERIES, 'offset');
        const gaps = offsets.slice(1).filter((offset, at) => offset !== offsets[at] + 1);
        assert.deepEqual(gaps, [], 'offsets without their predecessor');
      });
    }

    test('follows the dashboard variable', async () => {
      await open();
      await bench.until(TABLE, 'a live table', about('orders'));
      await bench.type(bench.page, 'Variable topic', 'sensors');
      await bench.until(TABLE, 'rows of sensors', about('sensors'));
    });

    test('shows partition and offset in a table, and hides them in a plot', async () => {
      await open();
      const coordinates = ({ frames }) => ['partition', 'offset'].filter((name) => frames[0]?.columns.includes(name)).length;
      await bench.until(SERIES, 'a plot of values only', (shown) => live(shown) && coordinates(shown) === 0);
      await bench.page.getByRole('radio', { name: 'Table' }).check();
      await bench.until(SERIES, 'a table with both', (shown) => live(shown) && coordinates(shown) === 2);
    });

    test('shows two queries in one panel', async () => {
      await open();
      await bench.until(SERIES, 'a live time series', live);
      await bench.page.getByRole('button', { name: 'Add query' }).click();
      await bench.type(bench.query('B'), 'Topic', 'orders');
      const both = (shown) => live(shown) && ['A', 'B'].every((id) => shown.frames.some((frame) => frame.refId === id && frame.rows > 0));
      await bench.until(SERIES, 'rows of both', both);
    });

    test('shows a demo topic of each format, without an error', async () => {
      await open();
      bench.page.setDefaultTimeout(60_000);
      await bench.until(TABLE, 'a live table', live);
      for (const topic of ['turbines', 'weather', 'rides', 'hosts', 'meters']) {
        await bench.choose(bench.page, 'Show a demo topic', topic);
        const shown = await bench.until(TABLE + 1, `live rows of ${topic}`, about(topic), 60_000);
        const columns = shown.frames.flatMap((frame) => frame.columns);
        assert.ok(columns.length > 2 && !columns.includes('_error'), `${topic} has ${columns}; ${shown.notices}`);
        assert.deepEqual(shown.notices.filter((text) => text.includes('could not')), [], topic);
        await bench.picture(`topic-${topic}-${grafana}`);
        // One at a time: a browser that draws without a graphics card has enough to do.
        await bench.page.evaluate((at) => window.workbench.dashboard.removePanel(window.workbench.dashboard.panels.value[at]), TABLE + 1);
      }
    });

    test('saves and tests the data source', async () => {
      await open({ page: 'datasource', size: [1440, 1400] });
      const save = bench.page.getByRole('button', { name: 'Save & test' });
      const brokers = bench.page.getByRole('textbox', { name: 'Bootstrap servers' });
      const good = await brokers.inputValue();
      await save.click();
      await bench.page.locator('[aria-label^="Alert success"], [data-testid="data-testid Alert success"]').waitFor();
      await bench.picture(`data-source-${grafana}`);
      try {
        await brokers.fill('no-such-host.invalid:9092');
        await save.click();
        const alert = bench.page.locator('[aria-label^="Alert error"], [data-testid="data-testid Alert error"]');
        await alert.getByText('no-such-host.invalid').first().waitFor();
        await bench.picture(`data-source-wrong-${grafana}`);
        await bench.page.getByRole('tab', { name: 'Dashboard' }).click();
        const { errors } = await bench.until(SERIES, 'an error', (shown) => shown.errors.length > 0, 30_000);
        assert.match(errors[0], /no-such-host/);
        await bench.picture(`unreachable-${grafana}`);
        await bench.page.getByRole('tab', { name: 'Data source' }).click();
      } finally {
        await brokers.fill(good);
        await save.click();
        await bench.page.locator('[aria-label^="Alert success"], [data-testid="data-testid Alert success"]').waitFor();
      }
      await bench.page.getByRole('tab', { name: 'Dashboard' }).click();
      await bench.until(SERIES, 'a live time series', live);
    });

    for (const theme of ['dark', 'light']) {
      test(`looks right in the ${theme} theme`, async () => {
        await open({ theme });
        await bench.until(SERIES, 'a live time series', live);
        await bench.until(TABLE, 'a live table', live);
        await sleep(2_000);
        await bench.picture(`dashboard-${grafana}-${theme}`);
      });
    }
  });
}

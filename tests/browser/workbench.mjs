// The demo's page in Chromium: what a person does on it, and what they see.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { PICTURES } from './demo.mjs';

const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

export function startBrowser() {
  return chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: FLAGS });
}

/** A machine that builds something else beside the tests is slow, and no fault of theirs. */
const PATIENCE_MS = 45_000;

/** One page of the demo, with what it logged as errors and the channels it subscribed to. */
export class Workbench {
  errors = [];
  subscribed = [];
  asked = 0;

  constructor(page) {
    this.page = page;
    page.setDefaultTimeout(PATIENCE_MS);
    page.on('pageerror', (error) => this.errors.push(error.stack ?? String(error)));
    page.on('console', (message) => {
      // Chromium itself logs each answer of 400 and more: those of the API are the page's to show.
      const api = message.text().startsWith('Failed to load resource') && message.location().url.includes('/api/');
      if (message.type() === 'error' && !api) {
        this.errors.push(`${message.text()} (${message.location().url})`);
      }
    });
    page.on('request', (request) => {
      this.asked += request.url().includes('/api/ds/query') ? 1 : 0;
    });
    page.on('websocket', (socket) => {
      socket.on('framesent', ({ payload }) => {
        for (const line of String(payload).split('\n').filter(Boolean)) {
          const { subscribe } = JSON.parse(line);
          if (subscribe) {
            this.subscribed.push(subscribe.channel);
          }
        }
      });
    });
  }

  static async open(browser, url, { grafana, theme = 'dark', page = 'dashboard', size = [1440, 1000] }) {
    const [width, height] = size;
    const opened = new Workbench(await browser.newPage({ viewport: { width, height }, baseURL: url }));
    await opened.page.goto(`${url}/?grafana=${grafana}&theme=${theme}&page=${page}`);
    await opened.page.waitForFunction(() => window.workbench);
    return opened;
  }

  /** The panel whose title begins with `title`. */
  panel(title) {
    return this.page.locator(`section[aria-label^="Panel ${title}"]`);
  }

  /** The editor of query `refId` of the panel that is chosen below. */
  query(refId) {
    return this.page.locator(`section[aria-label="Query ${refId}"]`);
  }

  async choosePanel(title) {
    await this.page.getByRole('tab', { name: title }).click();
  }

  /** Takes `text` in the list labelled `label`, as someone who types and presses Enter. */
  async type(scope, label, text) {
    const input = scope.getByLabel(label, { exact: true });
    await input.fill(text);
    await this.options().first().waitFor();
    await input.press('Enter');
  }

  /** Takes the option with `text` of the list labelled `label`. */
  async choose(scope, label, text) {
    await scope.getByLabel(label, { exact: true }).press('ArrowDown');
    await this.options().filter({ hasText: text }).first().click();
  }

  options() {
    return this.page.locator('[id*="-option-"]');
  }

  /** What the panel at `index` shows now: its state, its error, its notices, and its frames' names, columns, rows and newest time. */
  shown(index) {
    return this.page.evaluate((index) => {
      const { state, series, errors } = window.workbench.dashboard.panels.value[index].runner.data.value;
      return {
        state,
        errors: (errors ?? []).map(({ message }) => message),
        notices: series.flatMap(({ meta }) => meta?.notices ?? []).map(({ text }) => text),
        frames: series.map(({ name, refId, fields, length }) => ({
          name,
          refId,
          columns: fields.map((field) => field.name),
          rows: length,
          newest: Math.max(...(fields.find((field) => field.type === 'time')?.values ?? [])),
        })),
      };
    }, index);
  }

  /** Waits until what the panel at `index` shows passes `test`, and returns it. */
  async until(index, what, test, timeout = PATIENCE_MS) {
    return until(what, () => this.shown(index), test, timeout);
  }

  /** The values of one column of the panel at `index`, in its order. */
  column(index, name) {
    return this.page.evaluate(
      ([index, name]) => {
        const { series } = window.workbench.dashboard.panels.value[index].runner.data.value;
        return [...(series[0]?.fields.find((field) => field.name === name)?.values ?? [])];
      },
      [index, name]
    );
  }

  /** Does harm by one of the host's paths for tests. */
  async harm(path) {
    const answer = await this.page.request.post(`/workbench/${path}`);
    if (!answer.ok()) {
      throw new Error(`/workbench/${path} answered ${answer.status()}`);
    }
  }

  /** The channels that are open now. */
  channels() {
    return this.page.evaluate(() => [...window.workbench.live.channels.keys()]);
  }

  async picture(name) {
    await mkdir(PICTURES, { recursive: true });
    await this.page.screenshot({ path: join(PICTURES, `${name}.png`) });
  }

  close() {
    return this.page.close();
  }
}

/** Reads again until `test` holds; after `timeout` ms the error has what was read last. */
export async function until(what, read, test, timeout = PATIENCE_MS) {
  const end = Date.now() + timeout;
  for (;;) {
    const seen = await read();
    if (test(seen)) {
      return seen;
    }
    if (Date.now() > end) {
      throw new Error(`${what} did not come within ${timeout / 1_000} s; seen last: ${JSON.stringify(seen)}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

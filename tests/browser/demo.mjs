// Starts `workbench demo`, as `make demo` does, on a free port.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '../..');
const TARGET = process.env.CARGO_TARGET_DIR ?? join(ROOT, 'target');
const START_MS = 30_000;

/** Where pictures of the page are kept for a person to look at. */
export const PICTURES = process.env.PICTURES ?? join(TARGET, 'browser');

/**
 * Starts the demo and waits for its address. `WORKBENCH` and `GPX_STREAMSCOPE` name the binaries, `WORKBENCH_URL` a demo
 * that runs already.
 */
export async function startDemo() {
  if (process.env.WORKBENCH_URL) {
    return { url: process.env.WORKBENCH_URL.replace(/\/$/, ''), stop: async () => undefined };
  }
  const child = spawn(binary('WORKBENCH', 'debug/workbench'), [
    'demo',
    ...['--port', '0'],
    ...['--plugin', binary('GPX_STREAMSCOPE', 'debug/gpx_streamscope')],
    ...['--frontend', join(ROOT, 'frontend/dist')],
    ...['--page', join(ROOT, 'workbench/page/dist')],
  ]);
  const exited = once(child, 'exit');
  const said = [];
  createInterface({ input: child.stderr }).on('line', (line) => said.push(line));
  const stop = async () => {
    child.kill('SIGINT');
    await exited;
  };
  try {
    return { url: await address(child, said), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function address(child, said) {
  return new Promise((resolve, reject) => {
    const fail = (why) => reject(new Error(`workbench demo ${why}:\n${said.slice(-30).join('\n')}`));
    const timer = setTimeout(() => fail(`printed no address within ${START_MS / 1_000} s`), START_MS);
    createInterface({ input: child.stdout }).on('line', (line) => {
      said.push(line);
      const url = /http:\/\/[\w.[\]:-]+/.exec(line)?.[0];
      if (url) {
        clearTimeout(timer);
        resolve(url);
      }
    });
    child.once('exit', (code) => {
      clearTimeout(timer);
      fail(`ended with ${code}`);
    });
  });
}

function binary(variable, path) {
  const file = process.env[variable] ?? join(TARGET, path);
  if (!existsSync(file)) {
    throw new Error(`${file} is not there: build it, or name it in ${variable}`);
  }
  return file;
}

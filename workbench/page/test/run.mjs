// Bundles the cases beside this file and runs them in Node, against Grafana 10's packages.
import { build } from 'esbuild';
import { spawnSync } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const cases = (await readdir(here)).filter((file) => file.endsWith('.test.ts'));
const out = await mkdtemp(join(here, '../node_modules/.test-'));
await build({
  entryPoints: cases.map((file) => join(here, file)),
  outdir: out,
  outExtension: { '.js': '.cjs' },
  bundle: true,
  platform: 'node',
  format: 'cjs',
  packages: 'external',
  sourcemap: 'inline',
  // Grafana's packages look at these while they load.
  banner: { js: 'globalThis.window ??= globalThis; globalThis.navigator ??= {};' },
  tsconfigRaw: {},
  define: { __GRAFANA__: '"10"' },
});
const files = (await readdir(out)).map((file) => join(out, file));
const { status } = spawnSync(process.execPath, ['--enable-source-maps', '--test', '--test-reporter=spec', ...files], { stdio: 'inherit' });
await rm(out, { recursive: true });
process.exitCode = status ?? 1;

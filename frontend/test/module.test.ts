// @vitest-environment node
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { rspack } from '@rspack/core';

import configure from '../rspack.config';
import grafana from './grafana-10.2.json';

/** What Grafana 10.2 to 13 all share with their plugins. */
const SHARED = [
  'react',
  'react-dom',
  'rxjs',
  'lodash',
  'moment',
  '@emotion/css',
  '@emotion/react',
  '@grafana/data',
  '@grafana/ui',
  '@grafana/runtime',
];

describe('module.js', () => {
  let built = '';
  let readable = '';

  beforeAll(async () => {
    built = await build('production');
    readable = await build('development');
  }, 120_000);

  it('asks only for what every Grafana shares', () => {
    const asked = dependencies(built);
    expect(asked).toContain('@grafana/data');
    expect(asked.filter((name) => !SHARED.includes(name))).toEqual([]);
  });

  it('neither asks for the automatic JSX runtime nor holds one', () => {
    expect(built).not.toContain('jsx-runtime');
    expect(built).not.toContain('react.transitional.element');
  });

  it('uses nothing that the packages of Grafana 10.2 do not export', () => {
    const uses = [...readable.matchAll(/\b_grafana_(data|runtime|ui)__rspack_import_\d+\.([\w$]+)/g)];
    expect(uses.length).toBeGreaterThan(20);
    const missing = uses.filter(([, name, what]) => !exportsOf(`@grafana/${name}`).has(what ?? ''));
    expect(missing.map(([use]) => use)).toEqual([]);
  });

  it('is one anonymous AMD module of a moderate size', () => {
    expect(built).toMatch(/^(\/\*.*?\*\/\s*)?define\(\[/s);
    expect(built.length).toBeLessThan(200_000);
  });
});

async function build(mode: 'production' | 'development'): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'module-'));
  const config = configure({}, { mode });
  const compiler = rspack({ ...config, devtool: false, output: { ...config.output, path } });
  await new Promise<void>((resolve, reject) => {
    compiler.run((error, stats) => {
      const failure = error ?? (stats?.hasErrors() ? new Error(stats.toString()) : undefined);
      compiler.close(() => (failure ? reject(failure) : resolve()));
    });
  });
  const text = readFileSync(join(path, 'module.js'), 'utf8');
  await rm(path, { recursive: true });
  return text;
}

/** Evaluates the module's `define` call, without running its body. */
function dependencies(module: string): string[] {
  const asked: string[] = [];
  const define = (names: string[]) => asked.push(...names);
  new Function('define', module)(define);
  return asked;
}

/** The names that the packages of Grafana 10.2.3 export, as `Object.keys` gives them. */
function exportsOf(name: string): Set<string> {
  return new Set((grafana as Record<string, string>)[name]?.split(' '));
}

// @vitest-environment node
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');

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
  let text = '';

  beforeAll(() => {
    const out = mkdtempSync(join(tmpdir(), 'module-'));
    execFileSync(join(root, 'node_modules/.bin/rspack'), ['build', '--output-path', out], { cwd: root, stdio: 'pipe' });
    text = readFileSync(join(out, 'module.js'), 'utf8');
    rmSync(out, { recursive: true });
  }, 120_000);

  it('asks only for what every Grafana shares', () => {
    const asked = dependencies(text);
    expect(asked).toContain('@grafana/data');
    expect(asked.filter((name) => !SHARED.includes(name))).toEqual([]);
  });

  it('neither asks for the automatic JSX runtime nor holds one', () => {
    expect(text).not.toContain('jsx-runtime');
    expect(text).not.toContain('react.transitional.element');
  });

  it('is one anonymous AMD module of a moderate size', () => {
    expect(text).toMatch(/^(\/\*.*?\*\/\s*)?define\(\[/s);
    expect(text.length).toBeLessThan(400_000);
  });
});

/** Evaluates the module's `define` call, without running its body. */
function dependencies(module: string): string[] {
  const asked: string[] = [];
  const define = (names: string[]) => asked.push(...names);
  new Function('define', module)(define);
  return asked;
}

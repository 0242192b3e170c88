// Builds the page twice: dist/v10 with Grafana 10's packages and React 18, dist/v13 with 13's and React 19.
import { build } from 'esbuild';
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = dirname(fileURLToPath(import.meta.url));

/** One copy of each in a bundle, whatever npm hoisted: what a plugin shares with its Grafana, and what keeps state. */
const SINGLETONS = [
  'react',
  'react-dom',
  'rxjs',
  'lodash',
  'moment',
  '@emotion/css',
  '@emotion/react',
  '@grafana/data',
  '@grafana/runtime',
  '@grafana/schema',
  '@grafana/ui',
];

const BUILDS = [
  { version: '10', dir: 'v10', icons: 'img/icons' },
  { version: '13', dir: 'v13', icons: 'build/img/icons' },
];

const FONTS = [
  ['inter', 'inter-latin-400-normal.woff2', 'inter/Inter-Regular.woff2'],
  ['inter', 'inter-latin-500-normal.woff2', 'inter/Inter-Medium.woff2'],
  ['inter', 'inter-latin-400-italic.woff2', 'inter/Inter-Italic.woff2'],
  ['inter', 'inter-latin-500-italic.woff2', 'inter/Inter-MediumItalic.woff2'],
  ['roboto-mono', 'roboto-mono-latin-400-normal.woff2', 'roboto/L0xTDF4xlVMF-BfR8bXMIhJHg45mwgGEFl0_3vrtSM1J-gEPT5Ese6hmHSh0mQ.woff2'],
];

async function buildPage({ version, dir, icons }) {
  const out = join(ROOT, 'dist', dir);
  const packages = createRequire(join(ROOT, dir, 'package.json'));
  const folder = (name) => packageFolder(packages, name);
  const release = packages('@grafana/ui/package.json').version;
  await rm(out, { recursive: true, force: true });
  const result = await build({
    absWorkingDir: ROOT,
    entryPoints: { main: 'src/boot.ts' },
    outdir: out,
    bundle: true,
    splitting: true,
    format: 'esm',
    target: 'es2022',
    // tsconfig.json sends every import to 13's types; a bundle must not follow it.
    tsconfigRaw: { compilerOptions: { jsx: 'react' } },
    minify: true,
    metafile: true,
    logLevel: 'warning',
    logOverride: { 'package.json': 'silent' },
    define: {
      'process.env.NODE_ENV': '"production"',
      'process.env': '{}',
      global: 'globalThis',
      __GRAFANA__: JSON.stringify(version),
      __GRAFANA_VERSION__: JSON.stringify(release),
      __PUBLIC_PATH__: JSON.stringify(`/${dir}/public/`),
    },
    alias: {
      '#platform': join(ROOT, dir, 'platform.tsx'),
      '#runtime-settings': join(folder('@grafana/runtime'), 'dist/esm/services/dataSource/settings.mjs'),
    },
    loader: { '.svg': 'dataurl', '.woff': 'file', '.woff2': 'file', '.ttf': 'file' },
    external: ['./public/fonts/*'],
    plugins: [singletons(packages), systemJs],
  });
  await copyAssets(out, folder('@grafana/ui'), icons);
  const html = await readFile(join(ROOT, 'src/index.html'), 'utf8');
  await writeFile(join(out, 'index.html'), html.replaceAll('{{dir}}', dir).replaceAll('{{version}}', version));
  const bytes = Object.values(result.metafile.outputs).reduce((sum, file) => sum + file.bytes, 0);
  console.log(`dist/${dir}: Grafana ${release}, ${(bytes / 2 ** 20).toFixed(1)} MiB`);
}

/** Resolves each singleton, and each import that has no nearer copy, from the build's own package. */
function singletons(packages) {
  const own = new RegExp(`^(${SINGLETONS.map((name) => name.replace('/', '\\/')).join('|')})(/.*)?$`);
  return {
    name: 'singletons',
    setup(build) {
      build.onResolve({ filter: own }, (args) => {
        if (args.pluginData?.settled) {
          return undefined;
        }
        return build.resolve(args.path, {
          kind: args.kind,
          resolveDir: dirname(packages.resolve.paths(args.path)[0]),
          pluginData: { settled: true },
        });
      });
    },
  };
}

/** Grafana 10's runtime asks for SystemJS's files without their ending, which its package does not export. */
const systemJs = {
  name: 'systemjs',
  setup(build) {
    build.onResolve({ filter: /^systemjs\/dist\/[a-z/]+$/ }, ({ path, kind, resolveDir }) =>
      build.resolve(`${path}.js`, { kind, resolveDir })
    );
  },
};

async function copyAssets(out, ui, icons) {
  const to = join(out, 'public', icons);
  // Grafana's package lacks some of the icons that its components show.
  await cp(join(ROOT, 'icons'), to, { recursive: true });
  await cp(join(ui, 'dist/public/img/icons'), to, { recursive: true });
  for (const [family, file, target] of FONTS) {
    const font = join(out, 'public/fonts', target);
    await mkdir(dirname(font), { recursive: true });
    await cp(join(ROOT, 'node_modules/@fontsource', family, 'files', file), font);
  }
}

function packageFolder(packages, name) {
  return resolve(dirname(packages.resolve(`${name}/package.json`)));
}

for (const page of BUILDS) {
  await buildPage(page);
}

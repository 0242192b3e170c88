import { type Configuration } from '@rspack/core';

/**
 * Builds `dist/module.js`: one AMD module without a name, which is what Grafana's plugin loader reads.
 *
 * Everything that Grafana shares with its plugins stays outside, so the same file runs on the React 18 of
 * Grafana 10 and the React 19 of Grafana 13.
 */
export default function configure(_env: unknown, { mode }: { mode?: Configuration['mode'] }): Configuration {
  const production = mode !== 'development';
  return {
    mode: production ? 'production' : 'development',
    target: ['web', 'es2021'],
    context: import.meta.dirname,
    entry: { module: './src/module.ts' },
    devtool: production ? 'source-map' : 'inline-source-map',
    externals: [
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
    ],
    module: {
      rules: [
        {
          test: /\.tsx?$/,
          exclude: /node_modules/,
          loader: 'builtin:swc-loader',
          options: {
            jsc: {
              parser: { syntax: 'typescript', tsx: true },
              transform: { react: { runtime: 'classic' } },
              target: 'es2021',
            },
          },
          type: 'javascript/auto',
        },
      ],
    },
    resolve: { extensions: ['.ts', '.tsx', '.js'] },
    output: {
      path: `${import.meta.dirname}/dist`,
      filename: '[name].js',
      library: { type: 'amd' },
      clean: true,
      uniqueName: 'streamscope-kafka-datasource',
    },
    performance: { maxAssetSize: 400_000, maxEntrypointSize: 400_000 },
    stats: { preset: 'errors-warnings', assets: true },
  };
}

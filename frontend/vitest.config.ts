import { defineConfig } from 'vitest/config';

export default defineConfig({
  esbuild: { jsx: 'transform' },
  test: {
    globals: true,
    environment: 'jsdom',
    setupFiles: ['./test/setup.ts'],
    include: ['src/**/*.test.{ts,tsx}', 'test/**/*.test.{ts,tsx}'],
    restoreMocks: true,
    // A machine that builds something else beside the tests is slow, and no fault of theirs.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Their ES modules name exports of CommonJS ones, which Vite can read and Node cannot.
    server: { deps: { inline: [/@grafana\//] } },
  },
});

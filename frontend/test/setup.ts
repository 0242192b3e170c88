import '@testing-library/jest-dom/vitest';

// What a browser has, and jsdom lacks, when Grafana's packages load.
if (typeof window !== 'undefined') {
  window.matchMedia ??= (media) =>
    ({ media, matches: false, addEventListener: () => undefined, removeEventListener: () => undefined }) as unknown as MediaQueryList;
}

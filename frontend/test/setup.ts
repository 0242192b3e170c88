import '@testing-library/jest-dom/vitest';

// What a browser has, and jsdom lacks, when Grafana's packages load.
if (typeof window !== 'undefined') {
  window.matchMedia ??= (media) =>
    ({ media, matches: false, addEventListener: () => undefined, removeEventListener: () => undefined }) as unknown as MediaQueryList;
  window.IntersectionObserver ??= class {
    observe() {}
    unobserve() {}
    disconnect() {}
  } as unknown as typeof IntersectionObserver;
}

// Icons are fetched over the network, after the test that draws them has ended.
vi.mock('react-inlinesvg', () => ({ default: () => null }));

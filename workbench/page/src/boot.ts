import './page.css';

/**
 * Sets what Grafana's server writes into its own page, then loads the rest: `@grafana/runtime` reads its boot data
 * the moment it is imported.
 */
async function boot(): Promise<void> {
  const page = new URLSearchParams(window.location.search);
  const theme = page.get('theme') === 'light' ? 'light' : 'dark';
  const answer = await fetch('/api/frontend/settings');
  if (!answer.ok) {
    throw new Error(`/api/frontend/settings answered ${answer.status}`);
  }
  window.__grafana_public_path__ = __PUBLIC_PATH__;
  window.grafanaBootData = {
    user: {
      id: 1,
      login: 'admin',
      name: 'admin',
      isSignedIn: true,
      isGrafanaAdmin: true,
      orgId: 1,
      orgName: 'Main Org.',
      orgRole: 'Admin',
      language: 'en-US',
      locale: 'en-US',
      permissions: {},
      theme,
      timezone: 'browser',
    },
    navTree: [],
    assets: { dark: '', light: '' },
    settings: asReleased(await answer.json()),
  };
  document.documentElement.classList.add(`theme-${theme}`);
  document.body.classList.add(`theme-${theme}`);
  const { start } = await import('./start');
  await start();
}

/** The host speaks for the newest Grafana: an older one names its own release, and has fewer settings. */
function asReleased(settings: Record<string, unknown>): Record<string, unknown> {
  const { buildInfo, liveMessageSizeLimit, ...rest } = settings;
  return {
    featureToggles: {},
    liveEnabled: true,
    ...rest,
    ...(__GRAFANA__ === '10' ? {} : { liveMessageSizeLimit }),
    buildInfo: { ...(buildInfo as object | undefined), version: __GRAFANA_VERSION__ },
  };
}

boot().catch((error: unknown) => {
  const report = document.createElement('pre');
  report.setAttribute('role', 'alert');
  report.className = 'boot-error';
  report.textContent = `The page could not start: ${error instanceof Error ? error.message : String(error)}`;
  document.body.append(report);
  console.error(error);
});

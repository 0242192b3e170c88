import { getThemeById, GrafanaTheme2, ThemeContext } from '@grafana/data';
import { config, getAppEvents, locationService, ThemeChangedEvent } from '@grafana/runtime';
import { GlobalStyles, PortalContainer } from '@grafana/ui';
import React, { useEffect, useState } from 'react';
import { LinkProvider } from '#platform';
import { Dashboard } from '../dashboard';
import { DashboardPage } from './DashboardPage';
import { DataSourcePage } from './DataSourcePage';
import { Toasts } from './Toasts';
import { TopBar } from './TopBar';

/** The whole page: Grafana's theme around the bar and one of two pages. */
export function App({ dashboard }: { dashboard: Dashboard }) {
  const [theme, setTheme] = useState(config.theme2);
  const page = usePage();
  return (
    <ThemeContext.Provider value={theme}>
      <LinkProvider location={locationService}>
        <GlobalStyles />
        <TopBar
          logo={dashboard.dataSources.plugin.meta.info.logos.small}
          page={page}
          theme={theme}
          onToggleTheme={() => setTheme(changeTheme(theme))}
        />
        <main className="page">
          {page === 'datasource' ? (
            <DataSourcePage dataSources={dashboard.dataSources} />
          ) : (
            <DashboardPage dashboard={dashboard} />
          )}
        </main>
        <Toasts />
        <PortalContainer />
      </LinkProvider>
    </ThemeContext.Provider>
  );
}

export type PageName = 'dashboard' | 'datasource';

function usePage(): PageName {
  const read = () => (locationService.getSearch().get('page') === 'datasource' ? 'datasource' : 'dashboard');
  const [page, setPage] = useState<PageName>(read);
  useEffect(() => locationService.getHistory().listen(() => setPage(read())), []);
  return page;
}

function changeTheme(from: GrafanaTheme2): GrafanaTheme2 {
  const name = from.isDark ? 'light' : 'dark';
  const theme = getThemeById(name);
  config.theme2 = theme;
  config.theme = theme.v1;
  for (const { classList } of [document.documentElement, document.body]) {
    classList.remove(`theme-${from.isDark ? 'dark' : 'light'}`);
    classList.add(`theme-${name}`);
  }
  getAppEvents().publish(new ThemeChangedEvent(theme));
  locationService.partial({ theme: name }, true);
  return theme;
}

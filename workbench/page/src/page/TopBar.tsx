import { css } from '@emotion/css';
import { GrafanaTheme2 } from '@grafana/data';
import { config, locationService } from '@grafana/runtime';
import { Tab, TabsBar, ToolbarButton, useStyles2 } from '@grafana/ui';
import React from 'react';
import { PageName } from './App';

interface Props {
  /** Where the plugin's logo is. */
  logo: string;
  page: PageName;
  theme: GrafanaTheme2;
  onToggleTheme: () => void;
}

/** The bar on top: the two pages, and which Grafana this is. */
export function TopBar({ logo, page, theme, onToggleTheme }: Props) {
  const styles = useStyles2(getStyles);
  const other = __GRAFANA__ === '10' ? '13' : '10';
  const tab = (name: PageName, label: string, icon: 'apps' | 'database') => (
    <Tab
      label={label}
      icon={icon}
      active={page === name}
      onChangeTab={(event) => {
        event?.preventDefault();
        locationService.partial({ page: name === 'dashboard' ? null : name });
      }}
    />
  );
  return (
    <header className={styles.bar}>
      <div className={styles.name}>
        {logo && <img src={`/${logo}`} alt="" width={24} height={24} />}
        Streamscope workbench
      </div>
      <TabsBar className={styles.tabs} hideBorder>
        {tab('dashboard', 'Dashboard', 'apps')}
        {tab('datasource', 'Data source', 'database')}
      </TabsBar>
      <div className={styles.side}>
        <span>{`Grafana ${config.buildInfo.version}`}</span>
        <ToolbarButton
          icon="exchange-alt"
          tooltip={`Show the page of Grafana ${other}`}
          onClick={() => window.location.assign(`/?grafana=${other}&theme=${theme.name.toLowerCase()}`)}
        >
          {`Grafana ${other}`}
        </ToolbarButton>
        <ToolbarButton
          icon="palette"
          tooltip={theme.isDark ? 'Light theme' : 'Dark theme'}
          aria-label="Change theme"
          onClick={onToggleTheme}
        />
      </div>
    </header>
  );
}

const getStyles = (theme: GrafanaTheme2) => ({
  bar: css({
    display: 'flex',
    alignItems: 'center',
    gap: theme.spacing(3),
    height: 48,
    padding: theme.spacing(0, 2),
    background: theme.colors.background.primary,
    borderBottom: `1px solid ${theme.colors.border.weak}`,
  }),
  name: css({
    display: 'flex',
    alignItems: 'center',
    gap: theme.spacing(1),
    fontWeight: theme.typography.fontWeightMedium,
    whiteSpace: 'nowrap',
  }),
  tabs: css({ flexGrow: 1 }),
  side: css({
    display: 'flex',
    alignItems: 'center',
    gap: theme.spacing(1),
    color: theme.colors.text.secondary,
    whiteSpace: 'nowrap',
  }),
});

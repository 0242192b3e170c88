import { EventBusSrv } from '@grafana/data';
import {
  config,
  EchoSrv,
  setAppEvents,
  setBackendSrv,
  setDataSourceSrv,
  setEchoSrv,
  setGrafanaLiveSrv,
  setTemplateSrv,
} from '@grafana/runtime';
import React from 'react';
import { createRoot } from 'react-dom/client';
import { startPlatform } from '#platform';
import { Dashboard } from './dashboard';
import { PageBackendSrv } from './grafana/backendSrv';
import { PageDataSourceSrv, requestedModules } from './grafana/dataSourceSrv';
import { PageTemplateSrv } from './grafana/templateSrv';
import { PageLiveSrv } from './live/service';
import { App } from './page/App';

/** Nobody listens to what is used and how. */
const NO_ECHO: EchoSrv = {
  addBackend: () => undefined,
  addEvent: () => undefined,
  flush: () => undefined,
  onInteraction: () => () => undefined,
};

/** Puts Grafana's services in place, loads the plugin, and draws the page. */
export async function start(): Promise<void> {
  await startPlatform();
  setAppEvents(new EventBusSrv());
  setEchoSrv(NO_ECHO);
  setBackendSrv(new PageBackendSrv());
  const templates = new PageTemplateSrv([{ name: 'topic', value: 'orders', options: ['orders'] }]);
  setTemplateSrv(templates);
  const live = new PageLiveSrv({
    url: `${window.location.origin.replace(/^http/, 'ws')}/api/live/ws`,
    prefix: __GRAFANA__ === '10' ? '1' : 'default',
    enabled: config.liveEnabled,
  });
  setGrafanaLiveSrv(live);
  const dataSources = await PageDataSourceSrv.load();
  setDataSourceSrv(dataSources);

  const dashboard = new Dashboard(dataSources, templates);
  dashboard.addPanel('timeseries', 'Sensors, live', { topicName: 'sensors', autoOffsetReset: 'lastN', lastN: 3000 });
  dashboard.addPanel('table', 'Records of $topic', { topicName: '$topic', autoOffsetReset: 'lastN', lastN: 50 });
  Object.assign(window, { workbench: { dashboard, live, requestedModules } });
  createRoot(document.getElementById('root') ?? document.body).render(<App dashboard={dashboard} />);
}

import { initPluginTranslations } from '@grafana/i18n';
import { DataSourceInstanceSettings } from '@grafana/data';
import { LocationService } from '@grafana/runtime';
import { initializeLoggersRegistry } from '@grafana/runtime/unstable';
import { TableNG } from '@grafana/ui/unstable';
import { initDataSourceInstanceSettings } from '#runtime-settings';
import React, { ReactNode } from 'react';
import { Router } from 'react-router-dom';
import { CompatRouter } from 'react-router-dom-v5-compat';
import { NEWEST_FIRST, TableProps } from '../src/panels/table';

/** Grafana 13's table. */
export function TableView({ frame, width, height, structureRev, timeRange }: TableProps) {
  return (
    <TableNG
      data={frame}
      width={width}
      height={height}
      structureRev={structureRev}
      timeRange={timeRange}
      sortBy={NEWEST_FIRST}
      enableVirtualization
      resizable
    />
  );
}

/** Links inside Grafana's components want a router. */
export function LinkProvider({ location, children }: { location: LocationService; children: ReactNode }) {
  return (
    <Router history={location.getHistory()}>
      <CompatRouter>{children}</CompatRouter>
    </Router>
  );
}

/** Grafana 13's packages warn on the console when they are used before their translations and loggers are there. */
export async function startPlatform(): Promise<void> {
  await initPluginTranslations('grafana');
  initializeLoggersRegistry();
}

/** Grafana 13's runtime looks data sources up in a list of its own. */
export function shareSettings(settings: DataSourceInstanceSettings): void {
  initDataSourceInstanceSettings({ [settings.name]: settings }, settings.name);
}

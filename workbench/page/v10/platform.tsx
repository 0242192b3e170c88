import { LocationService } from '@grafana/runtime';
import { Table } from '@grafana/ui';
import React, { ReactNode } from 'react';
import { Router } from 'react-router-dom';
import 'uplot/dist/uPlot.min.css';
import { NEWEST_FIRST, TableProps } from '../src/panels/table';

/** Grafana 10's table. */
export function TableView({ frame, width, height }: TableProps) {
  return <Table data={frame} width={width} height={height} initialSortBy={NEWEST_FIRST} columnMinWidth={90} resizable />;
}

/** Links inside Grafana's components want a router. */
export function LinkProvider({ location, children }: { location: LocationService; children: ReactNode }) {
  return <Router history={location.getHistory()}>{children}</Router>;
}

/** Grafana 10's packages need no start. */
export function startPlatform(): Promise<void> {
  return Promise.resolve();
}

/** Grafana 10's runtime asks the data source service each time. */
export function shareSettings(): void {
  // Nothing is kept.
}

import { DataFrame, getFrameDisplayName, SelectableValue, TimeRange } from '@grafana/data';
import { Select } from '@grafana/ui';
import React, { useState } from 'react';
import { TableView } from '#platform';
import { VizProps } from './types';

/** What a table of either Grafana is given. */
export interface TableProps {
  frame: DataFrame;
  width: number;
  height: number;
  structureRev: number;
  timeRange: TimeRange;
}

/** How a table starts out: a live one is read from the top. */
export const NEWEST_FIRST = [{ displayName: 'time', desc: true }];

const PICKER_HEIGHT = 40;

/** A table of one frame; with several, a picker below says which. */
export function TablePanel({ frames, width, height, structureRev, timeRange }: VizProps) {
  const [chosen, setChosen] = useState(0);
  const index = Math.min(chosen, frames.length - 1);
  if (frames.length === 1) {
    return <TableView frame={frames[0]} {...{ width, height, structureRev, timeRange }} />;
  }
  const options: Array<SelectableValue<number>> = frames.map((frame, value) => ({
    value,
    label: getFrameDisplayName(frame, value),
  }));
  return (
    <>
      <TableView
        frame={frames[index]}
        height={height - PICKER_HEIGHT}
        {...{ width, structureRev, timeRange }}
      />
      <Select
        aria-label="Frame"
        options={options}
        value={options[index]}
        onChange={({ value }) => setChosen(value ?? 0)}
        menuPlacement="top"
      />
    </>
  );
}

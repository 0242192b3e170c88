import { DataFrame, FieldType } from '@grafana/data';
import { LegendDisplayMode, SortOrder, TooltipDisplayMode, VizLegendOptions } from '@grafana/schema';
import { TimeSeries, TooltipPlugin, ZoomPlugin } from '@grafana/ui';
import React, { useMemo } from 'react';
import { VizProps } from './types';

const LEGEND: VizLegendOptions = {
  displayMode: LegendDisplayMode.List,
  placement: 'bottom',
  showLegend: true,
  calcs: [],
};

/** A time series of all number fields, with Grafana's legend, tooltip and zoom. */
export function TimeSeriesPanel({ frames, width, height, timeRange, timezone, structureRev, onZoom }: VizProps) {
  const plotted = useMemo(() => frames.flatMap(plottable), [frames]);
  if (plotted.length === 0) {
    return <Unplottable frames={frames} />;
  }
  return (
    <TimeSeries
      frames={plotted}
      structureRev={structureRev}
      timeRange={timeRange}
      timeZone={timezone}
      width={width}
      height={height}
      legend={LEGEND}
    >
      {(config, alignedFrame) => (
        <>
          <ZoomPlugin config={config} onZoom={onZoom} />
          <TooltipPlugin
            config={config}
            data={alignedFrame}
            frames={plotted}
            mode={TooltipDisplayMode.Multi}
            sortOrder={SortOrder.None}
            timeZone={timezone}
          />
        </>
      )}
    </TimeSeries>
  );
}

/** Grafana plots time against numbers and booleans; a frame without both is left out. */
function plottable(frame: DataFrame): DataFrame[] {
  const time = frame.fields.find((field) => field.type === FieldType.time);
  const numbers = frame.fields.filter((field) => field.type === FieldType.number);
  return time && numbers.length > 0 && frame.length > 0 ? [{ ...frame, fields: [time, ...numbers] }] : [];
}

function Unplottable({ frames }: { frames: DataFrame[] }) {
  const fields = frames.filter((frame) => frame.length > 0).flatMap((frame) => frame.fields);
  if (fields.length === 0) {
    return <div className="panel-empty">No data</div>;
  }
  const missing = fields.some((field) => field.type === FieldType.time) ? 'a number' : 'a time';
  return <div className="panel-empty">{`Data is missing ${missing} field`}</div>;
}

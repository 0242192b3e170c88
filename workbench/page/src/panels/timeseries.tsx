import { DataFrame, FieldType, getDisplayProcessor, GrafanaTheme2 } from '@grafana/data';
import { LegendDisplayMode, SortOrder, TooltipDisplayMode, VizLegendOptions } from '@grafana/schema';
import { TimeSeries, TooltipPlugin, useTheme2, ZoomPlugin } from '@grafana/ui';
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
  const theme = useTheme2();
  const plotted = useMemo(() => plottable(frames, theme), [frames, theme]);
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

/**
 * Keeps the time and the numbers of each frame: a frame without both is left out. The palette's colours go to what is
 * plotted, in order.
 */
function plottable(frames: DataFrame[], theme: GrafanaTheme2): DataFrame[] {
  let seriesIndex = 0;
  return frames.flatMap((frame) => {
    const time = frame.fields.find((field) => field.type === FieldType.time);
    const numbers = frame.fields
      .filter((field) => field.type === FieldType.number)
      .map((field) => {
        const coloured = { ...field, state: { ...field.state, seriesIndex: seriesIndex++ } };
        return { ...coloured, display: getDisplayProcessor({ field: coloured, theme }) };
      });
    return time && numbers.length > 0 && frame.length > 0 ? [{ ...frame, fields: [time, ...numbers] }] : [];
  });
}

function Unplottable({ frames }: { frames: DataFrame[] }) {
  const fields = frames.filter((frame) => frame.length > 0).flatMap((frame) => frame.fields);
  if (fields.length === 0) {
    return <div className="panel-empty">No data</div>;
  }
  const missing = fields.some((field) => field.type === FieldType.time) ? 'a number' : 'a time';
  return <div className="panel-empty">{`Data is missing ${missing} field`}</div>;
}

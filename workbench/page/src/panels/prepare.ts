import {
  applyFieldOverrides,
  compareArrayValues,
  compareDataFrameStructures,
  DataFrame,
  FieldColorModeId,
  FieldConfig,
  FieldType,
  GrafanaTheme2,
  PanelData,
} from '@grafana/data';
import { getTemplateSrv } from '@grafana/runtime';
import { PanelType } from './types';

/** What a new panel of Grafana sets on each field, with a little fill. */
const FIELD_DEFAULTS: Record<PanelType, FieldConfig> = {
  timeseries: {
    color: { mode: FieldColorModeId.PaletteClassic },
    custom: {
      drawStyle: 'line',
      lineInterpolation: 'linear',
      lineWidth: 1,
      fillOpacity: 10,
      gradientMode: 'opacity',
      spanNulls: true,
      showPoints: 'never',
      pointSize: 5,
      stacking: { mode: 'none', group: 'A' },
      axisPlacement: 'auto',
      axisColorMode: 'text',
      axisLabel: '',
      scaleDistribution: { type: 'linear' },
      hideFrom: { legend: false, tooltip: false, viz: false },
      thresholdsStyle: { mode: 'off' },
    },
  },
  table: {
    color: { mode: FieldColorModeId.Thresholds },
    custom: { align: 'auto', cellOptions: { type: 'auto' }, inspect: false },
  },
};

/** Room for a date and a time with milliseconds in a table, in pixels. */
const TIME_WIDTH = 190;

export interface PreparedFrames {
  frames: DataFrame[];
  /** Goes up whenever names, types or settings of the fields change, so that a plot is set up anew only then. */
  structureRev: number;
}

/** Applies the display settings of a panel to each emission of its data, as Grafana does before it draws. */
export class FramePreparer {
  private last: DataFrame[] = [];
  private structureRev = 1;

  prepare(data: PanelData, type: PanelType, theme: GrafanaTheme2, timeZone: string): PreparedFrames {
    if (!compareArrayValues(data.series, this.last, compareDataFrameStructures)) {
      this.structureRev++;
    }
    this.last = data.series.map(outline);
    const frames = applyFieldOverrides({
      data: data.series.map((frame) => withDefaults(frame, FIELD_DEFAULTS[type])),
      fieldConfig: { defaults: {}, overrides: [] },
      replaceVariables: (text, scopedVars, format) => getTemplateSrv().replace(text, scopedVars, format),
      theme,
      timeZone,
    });
    return { frames, structureRev: this.structureRev };
  }
}

function withDefaults(frame: DataFrame, defaults: FieldConfig): DataFrame {
  const fields = frame.fields.map((field) => {
    const width = field.type === FieldType.time ? TIME_WIDTH : undefined;
    const custom = { ...defaults.custom, width, ...field.config.custom };
    return { ...field, config: { ...defaults, ...field.config, custom } };
  });
  return { ...frame, fields, length: frame.length };
}

/** Copies what `compareDataFrameStructures` looks at: a stream changes its frame in place. */
function outline(frame: DataFrame): DataFrame {
  return { ...frame, fields: frame.fields.map((field) => ({ ...field })), length: frame.length };
}

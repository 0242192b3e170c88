import { DataFrame, TimeRange } from '@grafana/data';

/** The kinds of panel that the page draws, by Grafana's plugin ids. */
export type PanelType = 'timeseries' | 'table';

/** What a visualization draws: frames with their display settings applied, and the room for it in pixels. */
export interface VizProps {
  frames: DataFrame[];
  timeRange: TimeRange;
  structureRev: number;
  width: number;
  height: number;
  timezone: string;
  onZoom: (range: { from: number; to: number }) => void;
}

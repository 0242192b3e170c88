import { css } from '@emotion/css';
import { GrafanaTheme2, TimeRange } from '@grafana/data';
import { RefreshPicker, TimeRangePicker, ToolbarButton, useStyles2 } from '@grafana/ui';
import React, { useEffect, useState } from 'react';
import { Dashboard } from '../dashboard';
import { absoluteRange, resolveRange } from '../query/range';
import { useValue } from './hooks';
import { Edited, PanelEditor } from './PanelEditor';
import { PanelView } from './PanelView';
import { TopicPicker } from './TopicPicker';
import { VariablePicker } from './VariablePicker';

/** The dashboard: its controls, its panels, and below them the queries of the panel that is chosen. */
export function DashboardPage({ dashboard }: { dashboard: Dashboard }) {
  const styles = useStyles2(getStyles);
  const panels = useValue(dashboard.panels);
  const [chosen, setChosen] = useState<Edited | undefined>(panels.at(0));
  const edited = chosen === 'variable' || (chosen && panels.includes(chosen)) ? chosen : panels.at(0);
  const add = () => setChosen(dashboard.addPanel('timeseries', `Panel ${panels.length + 1}`));
  return (
    <>
      <div className={styles.controls}>
        <VariablePicker name="topic" dashboard={dashboard} />
        <div className={styles.gap} />
        <TopicPicker dashboard={dashboard} onAdd={setChosen} />
        <ToolbarButton icon="plus" variant="canvas" onClick={add}>
          Add panel
        </ToolbarButton>
        <TimeControls dashboard={dashboard} />
      </div>
      <div className={styles.grid}>
        {panels.map((panel) => (
          <PanelView
            key={panel.id}
            panel={panel}
            dashboard={dashboard}
            selected={panel === edited}
            onEdit={() => setChosen(panel)}
          />
        ))}
      </div>
      {edited && <PanelEditor panels={panels} edited={edited} dashboard={dashboard} onChoose={setChosen} />}
    </>
  );
}

function TimeControls({ dashboard }: { dashboard: Dashboard }) {
  const raw = useValue(dashboard.range);
  const [interval, setRefresh] = useState('');
  const range = resolveRange(raw);
  const set = (next: TimeRange) => dashboard.range.next(next.raw);
  useRefresh(dashboard, interval);
  return (
    <>
      <TimeRangePicker
        value={range}
        timeZone="browser"
        onChange={set}
        onChangeTimeZone={() => undefined}
        onMoveBackward={() => set(shift(range, -0.5))}
        onMoveForward={() => set(shift(range, 0.5))}
        onZoom={() => set(zoomOut(range))}
        isOnCanvas
      />
      <RefreshPicker
        value={interval}
        onRefresh={() => dashboard.refresh()}
        onIntervalChanged={setRefresh}
        intervals={['5s', '10s', '30s', '1m']}
        isOnCanvas
      />
    </>
  );
}

function useRefresh(dashboard: Dashboard, interval: string): void {
  useEffect(() => {
    const seconds = Number.parseInt(interval, 10) * (interval.endsWith('m') ? 60 : 1);
    if (!seconds) {
      return undefined;
    }
    const timer = setInterval(() => dashboard.refresh(), seconds * 1_000);
    return () => clearInterval(timer);
  }, [dashboard, interval]);
}

/** Moves a range by a part of its length; the result is absolute. */
function shift({ from, to }: TimeRange, part: number): TimeRange {
  const by = (to.valueOf() - from.valueOf()) * part;
  return absoluteRange(from.valueOf() + by, to.valueOf() + by);
}

function zoomOut({ from, to }: TimeRange): TimeRange {
  const half = (to.valueOf() - from.valueOf()) / 2;
  return absoluteRange(from.valueOf() - half, to.valueOf() + half);
}

const getStyles = (theme: GrafanaTheme2) => ({
  controls: css({ display: 'flex', alignItems: 'center', gap: theme.spacing(1), flexWrap: 'wrap' }),
  gap: css({ flexGrow: 1 }),
  grid: css({
    display: 'grid',
    gridTemplateColumns: 'repeat(auto-fit, minmax(min(100%, 560px), 1fr))',
    gap: theme.spacing(1),
    margin: theme.spacing(2, 0),
  }),
});

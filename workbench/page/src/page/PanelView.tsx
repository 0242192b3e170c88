import { css, cx } from '@emotion/css';
import { GrafanaTheme2, LoadingState, PanelData, QueryResultMetaNotice } from '@grafana/data';
import { getTemplateSrv } from '@grafana/runtime';
import {
  ErrorBoundaryAlert,
  Icon,
  IconName,
  Menu,
  PanelChrome,
  Tooltip,
  useStyles2,
  useTheme2,
} from '@grafana/ui';
import React, { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { Dashboard, Panel } from '../dashboard';
import { FramePreparer } from '../panels/prepare';
import { TablePanel } from '../panels/table';
import { TimeSeriesPanel } from '../panels/timeseries';
import { PanelType } from '../panels/types';
import { absoluteRange } from '../query/range';
import { useValue } from './hooks';

const HEIGHT = 340;

interface Props {
  panel: Panel;
  dashboard: Dashboard;
  selected: boolean;
  onEdit: () => void;
}

/** One panel in Grafana's frame: title, notices, error, loading bar, streaming sign, menu, and the visualization. */
export function PanelView({ panel, dashboard, selected, onEdit }: Props) {
  const styles = useStyles2(getStyles);
  const data = useValue(panel.runner.data);
  const type = useValue(panel.type);
  const [box, width] = useWidth();
  useEffect(() => panel.layOut(width), [panel, width]);
  useEffect(() => () => panel.leave(), [panel]);
  useValue(dashboard.templates.variables);
  const title = getTemplateSrv().replace(panel.title);
  const menu = (
    <Menu>
      <Menu.Item label="Edit" icon="edit" onClick={onEdit} />
      <Menu.Item label="Refresh" icon="sync" onClick={() => panel.run()} />
      <Menu.Item label="Remove" icon="trash-alt" onClick={() => dashboard.removePanel(panel)} />
    </Menu>
  );
  return (
    <section ref={box} aria-label={`Panel ${title}`} className={cx(selected && styles.selected)}>
      {width > 0 && (
        <PanelChrome
          width={width}
          height={HEIGHT}
          title={title}
          padding={type === 'table' ? 'none' : 'md'}
          menu={menu}
          loadingState={data.state}
          statusMessage={statusMessage(data)}
          titleItems={<Notices data={data} />}
        >
          {(innerWidth, innerHeight) => (
            <ErrorBoundaryAlert dependencies={[data]}>
              <Visualization type={type} dashboard={dashboard} data={data} width={innerWidth} height={innerHeight} />
            </ErrorBoundaryAlert>
          )}
        </PanelChrome>
      )}
    </section>
  );
}

interface VisualizationProps {
  type: PanelType;
  dashboard: Dashboard;
  data: PanelData;
  width: number;
  height: number;
}

function Visualization({ type, dashboard, data, width, height }: VisualizationProps) {
  const theme = useTheme2();
  const [preparer] = useState(() => new FramePreparer());
  const prepared = useMemo(() => preparer.prepare(data, type, theme, 'browser'), [data, type, theme, preparer]);
  if (data.state === LoadingState.NotStarted) {
    return null;
  }
  if (!prepared.frames.some((frame) => frame.fields.length > 0)) {
    return <div className="panel-empty">{data.error ? '' : 'No data'}</div>;
  }
  const Viz = type === 'table' ? TablePanel : TimeSeriesPanel;
  return (
    <Viz
      {...prepared}
      timeRange={data.timeRange}
      timezone="browser"
      width={width}
      height={height}
      onZoom={({ from, to }) => dashboard.range.next(absoluteRange(from, to).raw)}
    />
  );
}

/** The notices of all frames, each once, as signs beside the title that tell their text when pointed at. */
function Notices({ data }: { data: PanelData }) {
  const notices = new Map<string, QueryResultMetaNotice>();
  for (const frame of data.series) {
    for (const notice of frame.meta?.notices ?? []) {
      notices.set(`${notice.severity} ${notice.text}`, notice);
    }
  }
  return (
    <>
      {[...notices.values()].map((notice, index) => (
        <Tooltip key={index} content={notice.text}>
          <PanelChrome.TitleItem>
            <span role="note" aria-label={`${notice.severity}: ${notice.text}`}>
              <Icon name={NOTICE_ICONS[notice.severity]} size="md" />
            </span>
          </PanelChrome.TitleItem>
        </Tooltip>
      ))}
    </>
  );
}

const NOTICE_ICONS: Record<QueryResultMetaNotice['severity'], IconName> = {
  info: 'info-circle',
  warning: 'exclamation-triangle',
  error: 'exclamation-circle',
};

/** The text behind the red sign of the header: the error, or how many there are. */
function statusMessage({ errors = [], error }: PanelData): string | undefined {
  const texts = errors.length > 0 ? errors : error ? [error] : [];
  if (texts.length > 1) {
    return `Multiple errors: ${texts.map(({ refId, message }) => `${refId}: ${message}`).join('; ')}`;
  }
  return texts.at(0) && (texts[0].message ?? 'Query error');
}

function useWidth() {
  const box = useRef<HTMLElement>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    if (!box.current) {
      return undefined;
    }
    setWidth(box.current.clientWidth);
    const observer = new ResizeObserver(([entry]) => setWidth(Math.floor(entry.contentRect.width)));
    observer.observe(box.current);
    return () => observer.disconnect();
  }, []);
  return [box, width] as const;
}

const getStyles = (theme: GrafanaTheme2) => ({
  selected: css({ outline: `1px solid ${theme.colors.primary.border}`, borderRadius: theme.shape.borderRadius(1) }),
});

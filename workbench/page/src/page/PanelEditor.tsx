import { css } from '@emotion/css';
import { CoreApp, DataSourcePluginContextProvider, GrafanaTheme2, PanelData, SelectableValue } from '@grafana/data';
import { getTemplateSrv } from '@grafana/runtime';
import { DataQuery } from '@grafana/schema';
import { Button, IconButton, RadioButtonGroup, Tab, TabContent, TabsBar, useStyles2 } from '@grafana/ui';
import React from 'react';
import { Dashboard, Panel } from '../dashboard';
import { PanelType } from '../panels/types';
import { useValue } from './hooks';
import { VariableEditor } from './VariableEditor';

/** What is edited: a panel, or the dashboard's variable. */
export type Edited = Panel | 'variable';

interface Props {
  panels: Panel[];
  edited: Edited;
  dashboard: Dashboard;
  onChoose: (edited: Edited) => void;
}

/** A tab for each panel and one for the variable, with the plugin's own editors. */
export function PanelEditor({ panels, edited, dashboard, onChoose }: Props) {
  const styles = useStyles2(getStyles);
  useValue(dashboard.templates.variables);
  return (
    <section aria-label="Panel editor" className={styles.editor}>
      <TabsBar>
        {panels.map((panel) => (
          <PanelTab key={panel.id} panel={panel} active={panel === edited} onChoose={onChoose} />
        ))}
        <Tab
          label="Variable topic"
          icon="sliders-v-alt"
          active={edited === 'variable'}
          onChangeTab={(event) => {
            event?.preventDefault();
            onChoose('variable');
          }}
        />
      </TabsBar>
      <TabContent className={styles.content}>
        {edited === 'variable' ? (
          <VariableEditor name="topic" dashboard={dashboard} />
        ) : (
          <Queries panel={edited} dashboard={dashboard} />
        )}
      </TabContent>
    </section>
  );
}

function PanelTab({ panel, active, onChoose }: { panel: Panel; active: boolean; onChoose: Props['onChoose'] }) {
  const type = useValue(panel.type);
  return (
    <Tab
      label={getTemplateSrv().replace(panel.title)}
      icon={type === 'table' ? 'table' : 'graph-bar'}
      active={active}
      onChangeTab={(event) => {
        event?.preventDefault();
        onChoose(panel);
      }}
    />
  );
}

function Queries({ panel, dashboard }: { panel: Panel; dashboard: Dashboard }) {
  const styles = useStyles2(getStyles);
  const targets = useValue(panel.targets);
  const type = useValue(panel.type);
  return (
    <>
      {targets.map((target, index) => (
        <QueryRow key={`${panel.id} ${target.refId}`} {...{ panel, dashboard, target, index }} />
      ))}
      <div className={styles.foot}>
        <Button
          icon="plus"
          variant="secondary"
          onClick={() => {
            panel.addTarget();
            panel.run();
          }}
        >
          Add query
        </Button>
        <RadioButtonGroup
          aria-label="Visualization"
          options={VISUALIZATIONS}
          value={type}
          onChange={(changed) => panel.changeType(changed)}
        />
      </div>
    </>
  );
}

const VISUALIZATIONS: Array<SelectableValue<PanelType>> = [
  { label: 'Time series', value: 'timeseries' },
  { label: 'Table', value: 'table' },
];

interface RowProps {
  panel: Panel;
  dashboard: Dashboard;
  target: DataQuery;
  index: number;
}

function QueryRow({ panel, dashboard, target, index }: RowProps) {
  const styles = useStyles2(getStyles);
  const dataSource = useValue(dashboard.dataSources.instance);
  const data = useValue(panel.runner.data);
  const range = useValue(dashboard.range);
  const settings = dashboard.dataSources.getInstanceSettings();
  const Editor = dashboard.dataSources.plugin.components.QueryEditor;
  const change = (changed: DataQuery) => panel.changeTarget(index, changed);
  if (!Editor || !settings) {
    return null;
  }
  return (
    <section aria-label={`Query ${target.refId}`} className={styles.row}>
      <header className={styles.head}>
        <span className={styles.refId}>{target.refId}</span>
        <span className={styles.source}>{`(${settings.name})`}</span>
        <div className={styles.gap} />
        <IconButton name="copy" tooltip="Duplicate query" onClick={() => panel.addTarget(target)} />
        <IconButton
          name={target.hide ? 'eye-slash' : 'eye'}
          tooltip={target.hide ? 'Show response' : 'Hide response'}
          onClick={() => {
            change({ ...target, hide: !target.hide });
            panel.run();
          }}
        />
        <IconButton name="trash-alt" tooltip="Remove query" onClick={() => panel.removeTarget(index)} />
      </header>
      <div className={styles.body}>
        <DataSourcePluginContextProvider instanceSettings={settings}>
          <Editor
            datasource={dataSource}
            query={target}
            queries={panel.targets.value}
            data={ofTarget(data, target.refId)}
            range={data.timeRange.raw === range ? data.timeRange : undefined}
            app={CoreApp.PanelEditor}
            history={[]}
            onChange={change}
            onRunQuery={() => panel.run()}
            onBlur={() => undefined}
          />
        </DataSourcePluginContextProvider>
      </div>
    </section>
  );
}

/** An editor is given the frames and the error of its own query. */
function ofTarget(data: PanelData, refId: string): PanelData {
  return {
    ...data,
    series: data.series.filter((frame) => frame.refId === refId),
    error: data.errors?.find((error) => error.refId === refId) ?? (data.error?.refId ? undefined : data.error),
  };
}

const getStyles = (theme: GrafanaTheme2) => ({
  editor: css({
    background: theme.colors.background.primary,
    border: `1px solid ${theme.colors.border.weak}`,
    borderRadius: theme.shape.borderRadius(1),
  }),
  content: css({ padding: theme.spacing(2), background: 'transparent' }),
  row: css({ marginBottom: theme.spacing(1) }),
  head: css({
    display: 'flex',
    alignItems: 'center',
    gap: theme.spacing(1),
    padding: theme.spacing(0.5, 1),
    minHeight: theme.spacing(4),
    background: theme.colors.background.secondary,
    borderRadius: theme.shape.borderRadius(1),
  }),
  refId: css({ color: theme.colors.primary.text, fontWeight: theme.typography.fontWeightMedium }),
  source: css({ color: theme.colors.text.secondary, fontStyle: 'italic', fontSize: theme.typography.bodySmall.fontSize }),
  gap: css({ flexGrow: 1 }),
  foot: css({ display: 'flex', justifyContent: 'space-between' }),
  body: css({ padding: theme.spacing(1, 0, 1, 2) }),
});

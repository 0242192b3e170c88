import { css } from '@emotion/css';
import { DataSourcePluginContextProvider, DataSourceSettings, GrafanaTheme2 } from '@grafana/data';
import { isFetchError } from '@grafana/runtime';
import { Alert, Button, InlineField, Input, LoadingPlaceholder, useStyles2 } from '@grafana/ui';
import React, { useEffect, useState } from 'react';
import { PageDataSourceSrv } from '../grafana/dataSourceSrv';

interface Outcome {
  severity: 'success' | 'error';
  title: string;
  details?: string;
}

/** The data source's page: the plugin's own settings editor, and Save & test. */
export function DataSourcePage({ dataSources }: { dataSources: PageDataSourceSrv }) {
  const styles = useStyles2(getStyles);
  const [settings, setSettings] = useState<DataSourceSettings>();
  const [outcome, setOutcome] = useState<Outcome>();
  const [busy, setBusy] = useState(false);
  useEffect(() => {
    dataSources
      .readSettings()
      .then(setSettings)
      .catch((error: unknown) => setOutcome(failure(error)));
  }, [dataSources]);

  const saveAndTest = async () => {
    if (!settings) {
      return;
    }
    setBusy(true);
    setOutcome(undefined);
    try {
      setSettings(await dataSources.saveSettings(settings));
      setOutcome(success(await dataSources.instance.value.testDatasource()));
    } catch (error) {
      setOutcome(failure(error));
    } finally {
      setBusy(false);
    }
  };

  const instance = dataSources.getInstanceSettings();
  const Editor = dataSources.plugin.components.ConfigEditor;
  if (!settings || !instance || !Editor) {
    return outcome ? <Alert severity="error" title={outcome.title} /> : <LoadingPlaceholder text="Loading" />;
  }
  return (
    <section aria-label="Data source" className={styles.page}>
      <h1 className={styles.title}>{settings.name}</h1>
      <p className={styles.type}>{`Type: ${instance.meta.name}`}</p>
      <InlineField label="Name" labelWidth={16} className={styles.name}>
        <Input
          value={settings.name}
          width={48}
          onChange={({ currentTarget }) => setSettings({ ...settings, name: currentTarget.value })}
        />
      </InlineField>
      <DataSourcePluginContextProvider instanceSettings={instance}>
        <Editor options={settings} onOptionsChange={setSettings as never} />
      </DataSourcePluginContextProvider>
      {outcome && (
        <Alert severity={outcome.severity} title={outcome.title} className={styles.outcome}>
          {outcome.details && <details className={styles.details}>{outcome.details}</details>}
        </Alert>
      )}
      <Button onClick={() => void saveAndTest()} disabled={busy} className={styles.save}>
        {busy ? 'Testing…' : 'Save & test'}
      </Button>
    </section>
  );
}

interface TestAnswer {
  status?: string;
  message?: string;
  details?: { message?: string; verboseMessage?: string };
}

function success({ status, message }: TestAnswer): Outcome {
  return { severity: status === 'error' ? 'error' : 'success', title: message ?? 'Data source is working' };
}

function failure(error: unknown): Outcome {
  if (isFetchError(error)) {
    const text = (error.data as { message?: string } | null)?.message ?? error.statusText ?? '';
    return { severity: 'error', title: `HTTP error ${error.status}: ${text}` };
  }
  const { message, details, error: inner } = error as TestAnswer & { error?: TestAnswer };
  const more = details ?? inner?.details;
  return { severity: 'error', title: message ?? String(error), details: more?.verboseMessage ?? more?.message };
}

const getStyles = (theme: GrafanaTheme2) => ({
  page: css({ maxWidth: 880, margin: '0 auto', paddingBottom: theme.spacing(8) }),
  title: css({ marginTop: theme.spacing(2) }),
  name: css({ margin: theme.spacing(2, 0, 4) }),
  type: css({ color: theme.colors.text.secondary }),
  details: css({ whiteSpace: 'pre-wrap' }),
  outcome: css({ marginTop: theme.spacing(4) }),
  save: css({ marginTop: theme.spacing(2) }),
});

import { getBackendSrv } from '@grafana/runtime';
import { Alert, Button } from '@grafana/ui';
import React, { useState } from 'react';

import { words } from '../../resources';
import { type ValidationAnswer } from '../../types';
import { useAsk } from '../parts/ask';
import { type EditorProps } from './settings';

type Options = EditorProps['options'];

interface Props {
  options: Options;
  /** There is a registry to try. */
  shown: boolean;
}

/** Has the process try the registry. It knows the settings that are saved, so changed ones are to be saved first. */
export function RegistryTest({ options, shown }: Props) {
  const settings = fingerprint(options);
  const [saved, setSaved] = useState({ version: options.version, settings });
  // Saving gives the data source another version.
  if (saved.version !== options.version) {
    setSaved({ version: options.version, settings });
  }
  const changed = saved.version === options.version && saved.settings !== settings;
  const test = useAsk(settings, () => tryRegistry(options.uid));

  if (!shown) {
    return null;
  }
  return (
    <div>
      <Button
        type="button"
        variant="secondary"
        icon={test.running ? 'spinner' : undefined}
        disabled={changed || test.running}
        onClick={test.run}
      >
        Test registry
      </Button>
      {changed && <p>Save first: the test uses the settings that are saved.</p>}
      {test.answer !== undefined && <Alert severity="success" title={test.answer} />}
      {test.error !== undefined && <Alert severity="error" title={test.error} />}
    </div>
  );
}

/** What the settings are, whatever the order in which they were written. */
function fingerprint({ jsonData, secureJsonData = {}, secureJsonFields }: Options): string {
  const parts = [jsonData, secureJsonData, secureJsonFields];
  return JSON.stringify(parts.map((part) => Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1))));
}

async function tryRegistry(uid: string): Promise<string> {
  const path = `/api/datasources/uid/${encodeURIComponent(uid)}/resources/validate-schema-registry`;
  const { message } = await words(() =>
    getBackendSrv().get<ValidationAnswer>(path, undefined, undefined, { showErrorAlert: false })
  );
  return message;
}

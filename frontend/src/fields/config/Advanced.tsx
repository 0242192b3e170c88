import { type SelectableValue } from '@grafana/data';
import React from 'react';

import { text } from '../parts/lenient';
import { ChoiceSetting, NumberSetting } from './parts';
import { type SectionProps } from './settings';

const LEVELS: Array<SelectableValue<string>> = [
  { label: 'Error', value: 'error', description: 'Only what failed' },
  { label: 'Warning', value: 'warn', description: 'Also what is odd' },
  { label: 'Info', value: 'info', description: 'Also what starts and stops' },
  { label: 'Debug', value: 'debug', description: 'Also what the Kafka client does, to find a fault' },
];
/** Other spellings that saved settings may hold. */
const SPELLINGS: Record<string, string> = { '': 'info', warning: 'warn', trace: 'debug' };

/** How long this data source waits, and what it writes to Grafana's log. */
export function Advanced({ settings, set, readOnly }: SectionProps) {
  const saved = text(settings.logLevel).trim().toLowerCase();
  const timeout = Number(text(settings.timeout)) || 0;
  return (
    <>
      <NumberSetting
        label="Request timeout"
        help="How long one request to the brokers may take."
        unit="ms"
        initial={10_000}
        least={100}
        most={300_000}
        value={text(settings.timeout)}
        onChange={(value) => set({ timeout: value })}
        readOnly={readOnly}
      />
      <NumberSetting
        label="Health check timeout"
        help="How long Save & test may take."
        unit="ms"
        initial={timeout > 0 ? timeout : 2_000}
        least={100}
        most={120_000}
        value={text(settings.healthcheckTimeout)}
        onChange={(healthcheckTimeout) => set({ healthcheckTimeout })}
        readOnly={readOnly}
      />
      <NumberSetting
        label="Metadata interval"
        help="How often running streams look for new partitions, and for topics that were deleted and made again."
        unit="ms"
        initial={30_000}
        least={1_000}
        most={3_600_000}
        value={text(settings.metadataInterval)}
        onChange={(metadataInterval) => set({ metadataInterval })}
        readOnly={readOnly}
      />
      <ChoiceSetting<string>
        label="Log level"
        help="How much the plugin writes to Grafana’s own log at least: Grafana’s configuration and the plugin’s other data sources may ask for more. It never writes records or secrets."
        value={SPELLINGS[saved] ?? saved}
        options={LEVELS}
        onChange={(logLevel) => set({ logLevel })}
        readOnly={readOnly}
      />
    </>
  );
}

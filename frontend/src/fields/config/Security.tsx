import { type SelectableValue } from '@grafana/data';
import React from 'react';

import { type SecurityProtocol } from '../../types';
import { text } from '../parts/lenient';
import { ChoiceSetting } from './parts';
import { type SectionProps } from './settings';

const PROTOCOLS: Array<SelectableValue<SecurityProtocol>> = [
  { label: 'PLAINTEXT', value: 'PLAINTEXT', description: 'No encryption and no login' },
  { label: 'SSL', value: 'SSL', description: 'Encrypted with TLS; login by client certificate, if any' },
  { label: 'SASL_PLAINTEXT', value: 'SASL_PLAINTEXT', description: 'Login without encryption: only on a network you trust' },
  { label: 'SASL_SSL', value: 'SASL_SSL', description: 'Login, encrypted with TLS' },
];

/** How the brokers are spoken with. */
export function Security({ settings, set, readOnly }: SectionProps) {
  const protocol = protocolOf(settings.securityProtocol);
  return (
    <ChoiceSetting<string>
      label="Security protocol"
      help="What the brokers’ listener speaks. The wrong choice usually shows as a connection that closes at once or times out."
      value={protocol}
      options={PROTOCOLS}
      error={
        PROTOCOLS.some(({ value }) => value === protocol) ? undefined : `“${protocol}” is none of Kafka’s protocols: choose one`
      }
      onChange={(securityProtocol) => set({ securityProtocol: securityProtocol as SecurityProtocol })}
      readOnly={readOnly}
    />
  );
}

/** Gives the protocol as it is saved; nothing saved is PLAINTEXT. */
export function protocolOf(saved: unknown): string {
  return text(saved).trim() || 'PLAINTEXT';
}

import { type SelectableValue } from '@grafana/data';
import React from 'react';

import { type SaslMechanism } from '../../types';
import { text } from '../parts/lenient';
import { ChoiceSetting, SecretSetting, TextSetting } from './parts';
import { type SectionProps } from './settings';

const MECHANISMS: Array<SelectableValue<SaslMechanism>> = [
  { label: 'PLAIN', value: 'PLAIN', description: 'The password itself is sent: use it with TLS' },
  { label: 'SCRAM-SHA-256', value: 'SCRAM-SHA-256', description: 'The password is proved, never sent' },
  { label: 'SCRAM-SHA-512', value: 'SCRAM-SHA-512', description: 'The password is proved, never sent' },
];

/** Who logs in. */
export function Sasl({ settings, secrets, set, readOnly }: SectionProps) {
  const mechanism = text(settings.saslMechanisms).trim() || 'PLAIN';
  const user = text(settings.saslUsername);
  const hasPassword = secrets.present('saslPassword');
  return (
    <>
      <ChoiceSetting<string>
        label="SASL mechanism"
        help="How user and password are proved. It has to be one that the brokers offer."
        value={mechanism}
        options={MECHANISMS}
        error={
          MECHANISMS.some(({ value }) => value === mechanism) ? undefined : `“${mechanism}” is not supported yet: choose one`
        }
        onChange={(saslMechanisms) => set({ saslMechanisms: saslMechanisms as SaslMechanism })}
        readOnly={readOnly}
      />
      <TextSetting
        label="User"
        required
        help="A user that may read and describe the topics, and nothing more."
        value={user}
        error={user.trim() === '' && hasPassword ? 'The password needs a user' : undefined}
        onChange={(saslUsername) => set({ saslUsername })}
        readOnly={readOnly}
      />
      <SecretSetting
        label="Password"
        required
        name="saslPassword"
        secrets={secrets}
        missing={user.trim() === '' ? undefined : 'The user needs a password'}
        readOnly={readOnly}
      />
    </>
  );
}

import { type SelectableValue } from '@grafana/data';
import React from 'react';

import { type RegistryAuth } from '../../types';
import { text } from '../parts/lenient';
import { urls } from './check';
import { ChoiceSetting, SecretSetting, TextSetting } from './parts';
import { type SectionProps } from './settings';

const WAYS: Array<SelectableValue<RegistryAuth>> = [
  { label: 'None', value: 'none', description: 'Without a login, or by the client certificate alone' },
  { label: 'User and password', value: 'basic', description: 'HTTP basic; an API key and its secret go here too' },
  { label: 'Token', value: 'bearer', description: 'A bearer token that does not change' },
  { label: 'OAuth', value: 'oauth', description: 'Client credentials: tokens are fetched as they are needed' },
];

/** How this data source logs in to the registry. */
export function RegistryLogin(section: SectionProps) {
  const { settings, secrets, set, readOnly } = section;
  const hasUser = text(settings.schemaRegistryUsername).trim() !== '' || secrets.present('schemaRegistryUsername');
  const saved = text(settings.schemaRegistryAuth).trim().toLowerCase();
  const way = saved || (hasUser || secrets.present('schemaRegistryPassword') ? 'basic' : 'none');
  return (
    <>
      <ChoiceSetting<string>
        label="Registry login"
        help="How this data source proves itself to the registry."
        value={way}
        options={WAYS}
        error={WAYS.some(({ value }) => value === way) ? undefined : `“${way}” is no way to log in: choose one`}
        onChange={(schemaRegistryAuth) => set({ schemaRegistryAuth: schemaRegistryAuth as RegistryAuth })}
        readOnly={readOnly}
      />
      {way === 'basic' && <Basic {...section} hasUser={hasUser} />}
      {way === 'bearer' && (
        <SecretSetting
          label="Registry token"
          required
          name="schemaRegistryToken"
          secrets={secrets}
          missing="Paste the token"
          readOnly={readOnly}
        />
      )}
      {way === 'oauth' && <OAuth {...section} />}
    </>
  );
}

function Basic({ settings, secrets, set, readOnly, hasUser }: SectionProps & { hasUser: boolean }) {
  return (
    <>
      <TextSetting
        label="Registry user"
        required
        help="A user that may read schemas, or an API key."
        value={text(settings.schemaRegistryUsername)}
        error={hasUser ? undefined : 'The password needs a user'}
        onChange={(schemaRegistryUsername) => set({ schemaRegistryUsername })}
        readOnly={readOnly}
      />
      <SecretSetting
        label="Registry password"
        required
        name="schemaRegistryPassword"
        secrets={secrets}
        missing="The user needs a password"
        readOnly={readOnly}
      />
    </>
  );
}

function OAuth({ settings, secrets, set, readOnly }: SectionProps) {
  const tokenUrl = text(settings.schemaRegistryOAuthTokenUrl);
  const clientId = text(settings.schemaRegistryOAuthClientId);
  return (
    <>
      <TextSetting
        label="Token URL"
        required
        help="Where the identity provider gives tokens for a client id and its secret."
        placeholder="https://login.example.com/oauth2/token"
        value={tokenUrl}
        error={tokenUrl.trim() === '' ? 'Write the address that gives tokens' : urls(tokenUrl)}
        onChange={(schemaRegistryOAuthTokenUrl) => set({ schemaRegistryOAuthTokenUrl })}
        readOnly={readOnly}
      />
      <TextSetting
        label="OAuth client id"
        required
        help="The name by which the identity provider knows this data source."
        value={clientId}
        error={clientId.trim() === '' ? 'Write the client id' : undefined}
        onChange={(schemaRegistryOAuthClientId) => set({ schemaRegistryOAuthClientId })}
        readOnly={readOnly}
      />
      <SecretSetting
        label="OAuth client secret"
        required
        name="schemaRegistryOAuthClientSecret"
        secrets={secrets}
        missing="Paste the client’s secret"
        readOnly={readOnly}
      />
      <TextSetting
        label="Scope"
        help="What the token is asked for, where the identity provider wants to be told. Several with spaces between them."
        value={text(settings.schemaRegistryOAuthScope)}
        onChange={(schemaRegistryOAuthScope) => set({ schemaRegistryOAuthScope })}
        readOnly={readOnly}
      />
    </>
  );
}

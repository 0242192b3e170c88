import { type SelectableValue } from '@grafana/data';
import React from 'react';

import { type RegistryType } from '../../types';
import { flag, text } from '../parts/lenient';
import { Authority, ClientCertificate } from './certificates';
import { urls } from './check';
import { ChoiceSetting, NumberSetting, SwitchSetting, TextSetting } from './parts';
import { RegistryLogin } from './RegistryLogin';
import { RegistryTest } from './RegistryTest';
import { type EditorProps, type SectionProps } from './settings';

const TYPES: Array<SelectableValue<RegistryType>> = [
  { label: 'Confluent', value: 'confluent', description: 'Confluent’s API, which most registries have' },
  { label: 'Apicurio', value: 'apicurio', description: 'Apicurio’s own API, version 3' },
];

interface Props extends SectionProps {
  options: EditorProps['options'];
}

/** Where schemas are kept, and how this data source gets to them. */
export function Registry({ options, ...section }: Props) {
  const { settings, set, readOnly } = section;
  const url = text(settings.schemaRegistryUrl);
  return (
    <>
      <TextSetting
        label="Registry URL"
        help="The address of the schema registry, with its path, if any. Several addresses of one registry, with commas between them, are tried one after another."
        placeholder="http://registry-1:8081, http://registry-2:8081"
        value={url}
        error={urls(url)}
        onChange={(schemaRegistryUrl) => set({ schemaRegistryUrl })}
        readOnly={readOnly}
      />
      {url.trim() !== '' && <Access {...section} secure={/https:\/\//i.test(url)} />}
      <RegistryTest options={options} shown={url.trim() !== ''} />
    </>
  );
}

interface AccessProps extends SectionProps {
  /** The registry is spoken with over TLS. */
  secure: boolean;
}

function Access({ secure, ...section }: AccessProps) {
  const { settings, secrets, set, readOnly } = section;
  const skipVerify = flag(settings.schemaRegistryTlsSkipVerify);
  const type = text(settings.schemaRegistryType).trim().toLowerCase() || 'confluent';
  return (
    <>
      <ChoiceSetting<string>
        label="Registry type"
        help="Which API the registry has. Apicurio has Confluent’s too, at /apis/ccompat/v7."
        value={type}
        options={TYPES}
        error={TYPES.some(({ value }) => value === type) ? undefined : `“${type}” is no type of registry: choose one`}
        onChange={(schemaRegistryType) => set({ schemaRegistryType: schemaRegistryType as RegistryType })}
        readOnly={readOnly}
      />
      <RegistryLogin {...section} />
      {secure && (
        <>
          <TextSetting
            label="Registry server name"
            help="The name that the registry’s certificate has to hold, where it is not the one in the URL."
            placeholder="registry.example.com"
            value={text(settings.schemaRegistryServerName)}
            onChange={(schemaRegistryServerName) => set({ schemaRegistryServerName })}
            readOnly={readOnly}
          />
          <Authority name="schemaRegistryTlsCACert" secrets={secrets} of="Registry" readOnly={readOnly} />
          <ClientCertificate
            certificate="schemaRegistryTlsClientCert"
            privateKey="schemaRegistryTlsClientKey"
            secrets={secrets}
            of="Registry"
            readOnly={readOnly}
          />
          <SwitchSetting
            label="Skip verification of the registry"
            help="Accepts any certificate. Whoever stands between Grafana and the registry can then read the login and give wrong schemas: only for trying things out."
            error={skipVerify ? 'The registry’s certificate is not checked' : undefined}
            value={skipVerify}
            onChange={(schemaRegistryTlsSkipVerify) => set({ schemaRegistryTlsSkipVerify })}
            readOnly={readOnly}
          />
        </>
      )}
      <NumberSetting
        label="Registry timeout"
        help="How long one request to the registry may take. Only records that wait for their schema wait with it."
        unit="ms"
        initial={5_000}
        least={100}
        most={60_000}
        value={text(settings.schemaRegistryTimeout)}
        onChange={(schemaRegistryTimeout) => set({ schemaRegistryTimeout })}
        readOnly={readOnly}
      />
    </>
  );
}

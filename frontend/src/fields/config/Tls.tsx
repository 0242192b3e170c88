import React from 'react';

import { flag, text } from '../parts/lenient';
import { certificate, privateKey } from './check';
import { SecretSetting, SwitchSetting, TextSetting } from './parts';
import { type SectionProps } from './settings';

/** How the brokers prove who they are, and how this data source does. */
export function Tls({ settings, secrets, set, readOnly }: SectionProps) {
  const skipVerify = flag(settings.tlsSkipVerify);
  const ownCa = flag(settings.tlsAuthWithCACert);
  const clientAuth = flag(settings.tlsAuth);
  const missing = (key: 'tlsCACert' | 'tlsClientCert' | 'tlsClientKey', what: string) =>
    secrets.present(key) ? undefined : what;
  return (
    <>
      <TextSetting
        label="Server name"
        help="The name that the brokers’ certificates have to hold, where it is not the one in the bootstrap servers."
        placeholder="kafka.example.com"
        value={text(settings.serverName)}
        onChange={(serverName) => set({ serverName })}
        readOnly={readOnly}
      />
      <SwitchSetting
        label="Own certificate authority"
        help="Trusts only the authority given here. Without it, those that the operating system trusts."
        value={ownCa}
        onChange={(tlsAuthWithCACert) => set({ tlsAuthWithCACert })}
        readOnly={readOnly}
      />
      {ownCa && (
        <SecretSetting
          label="CA certificate"
          required
          help="The authority’s certificate, or several one after another, in PEM form."
          placeholder="-----BEGIN CERTIFICATE-----"
          name="tlsCACert"
          secrets={secrets}
          multiline
          error={certificate(secrets.typed('tlsCACert')) ?? missing('tlsCACert', 'Paste the authority’s certificate')}
          readOnly={readOnly}
        />
      )}
      <SwitchSetting
        label="Client certificate"
        help="Shows the brokers a certificate of this data source, where they ask for one."
        value={clientAuth}
        onChange={(tlsAuth) => set({ tlsAuth })}
        readOnly={readOnly}
      />
      {clientAuth && (
        <>
          <SecretSetting
            label="Certificate"
            required
            help="This data source’s certificate in PEM form, with the ones between it and the authority, if any."
            placeholder="-----BEGIN CERTIFICATE-----"
            name="tlsClientCert"
            secrets={secrets}
            multiline
            error={
              certificate(secrets.typed('tlsClientCert')) ??
              missing('tlsClientCert', secrets.present('tlsClientKey') ? 'The key needs its certificate' : 'Paste the certificate')
            }
            readOnly={readOnly}
          />
          <SecretSetting
            label="Private key"
            required
            help="The certificate’s private key in PEM form, without a password."
            placeholder="-----BEGIN PRIVATE KEY-----"
            name="tlsClientKey"
            secrets={secrets}
            multiline
            error={
              privateKey(secrets.typed('tlsClientKey')) ??
              missing('tlsClientKey', secrets.present('tlsClientCert') ? 'The certificate needs its key' : 'Paste the private key')
            }
            readOnly={readOnly}
          />
        </>
      )}
      <SwitchSetting
        label="Skip verification"
        help="Accepts any certificate. Whoever stands between Grafana and the brokers can then read and change everything: only for trying things out."
        error={skipVerify ? 'The brokers’ certificates are not checked' : undefined}
        value={skipVerify}
        onChange={(tlsSkipVerify) => set({ tlsSkipVerify })}
        readOnly={readOnly}
      />
    </>
  );
}

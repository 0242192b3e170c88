import React from 'react';

import { flag, text } from '../parts/lenient';
import { Authority, ClientCertificate } from './certificates';
import { SwitchSetting, TextSetting } from './parts';
import { type SectionProps } from './settings';

/** How the brokers prove who they are, and how this data source does. */
export function Tls({ settings, secrets, set, readOnly }: SectionProps) {
  const skipVerify = flag(settings.tlsSkipVerify);
  const ownCa = flag(settings.tlsAuthWithCACert);
  const clientAuth = flag(settings.tlsAuth);
  return (
    <>
      <TextSetting
        label="Server name"
        help="For brokers whose certificates hold another name than the bootstrap servers. The Kafka library compares no other name: with an own authority, all that it signed is trusted; without one, write the certificate’s name into the bootstrap servers."
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
      {ownCa && <Authority name="tlsCACert" secrets={secrets} required readOnly={readOnly} />}
      <SwitchSetting
        label="Client certificate"
        help="Shows the brokers a certificate of this data source, where they ask for one."
        value={clientAuth}
        onChange={(tlsAuth) => set({ tlsAuth })}
        readOnly={readOnly}
      />
      {clientAuth && (
        <ClientCertificate
          certificate="tlsClientCert"
          privateKey="tlsClientKey"
          secrets={secrets}
          required
          readOnly={readOnly}
        />
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

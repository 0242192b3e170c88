import React from 'react';

import { type KafkaSecrets } from '../../types';
import { certificate, privateKey } from './check';
import { SecretSetting } from './parts';
import { type Secrets } from './settings';

interface Common {
  secrets: Secrets;
  /** Whether something is wrong while it is empty. */
  required?: boolean;
  /** What the labels begin with, where there are others of the kind on the page: `Registry`. */
  of?: string;
  readOnly: boolean;
}

interface AuthorityProps extends Common {
  name: keyof KafkaSecrets;
}

/** The certificate of the authority to trust. */
export function Authority({ name, secrets, required = false, of, readOnly }: AuthorityProps) {
  return (
    <SecretSetting
      label={labelled(of, 'CA certificate')}
      required={required}
      help={
        required
          ? 'The authority’s certificate, or several one after another, in PEM form.'
          : 'The only authority to trust, in PEM form. Empty trusts those of the operating system, and the brokers’ own.'
      }
      placeholder="-----BEGIN CERTIFICATE-----"
      name={name}
      secrets={secrets}
      multiline
      error={certificate(secrets.typed(name))}
      missing={required ? 'Paste the authority’s certificate' : undefined}
      readOnly={readOnly}
    />
  );
}

interface ClientCertificateProps extends Common {
  certificate: keyof KafkaSecrets;
  privateKey: keyof KafkaSecrets;
}

/** The certificate of this data source, and its key: one is nothing without the other. */
export function ClientCertificate({ secrets, required = false, of, readOnly, ...names }: ClientCertificateProps) {
  const missing = (other: keyof KafkaSecrets, alone: string, neither: string) =>
    secrets.present(other) ? alone : required ? neither : undefined;
  return (
    <>
      <SecretSetting
        label={labelled(of, 'Certificate')}
        required={required}
        help="This data source’s certificate in PEM form, with the ones between it and the authority, if any."
        placeholder="-----BEGIN CERTIFICATE-----"
        name={names.certificate}
        secrets={secrets}
        multiline
        error={certificate(secrets.typed(names.certificate))}
        missing={missing(names.privateKey, 'The key needs its certificate', 'Paste the certificate')}
        readOnly={readOnly}
      />
      <SecretSetting
        label={labelled(of, 'Private key')}
        required={required}
        help="The certificate’s private key in PEM form, without a password."
        placeholder="-----BEGIN PRIVATE KEY-----"
        name={names.privateKey}
        secrets={secrets}
        multiline
        error={privateKey(secrets.typed(names.privateKey))}
        missing={missing(names.certificate, 'The certificate needs its key', 'Paste the private key')}
        readOnly={readOnly}
      />
    </>
  );
}

function labelled(of: string | undefined, label: string): string {
  return of === undefined ? label : `${of} ${label.startsWith('CA') ? label : label.toLowerCase()}`;
}

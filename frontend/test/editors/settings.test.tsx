import { type DataSourceSettings } from '@grafana/data';
import { setBackendSrv } from '@grafana/runtime';
import { render, screen } from '@testing-library/react';
import userEvent, { type UserEvent } from '@testing-library/user-event';
import React, { useState } from 'react';

import contract from '../../../tests/contract/settings.json';
import { ConfigEditor } from '../../src/ConfigEditor';
import { type KafkaOptions, type KafkaSecrets } from '../../src/types';

type Options = DataSourceSettings<KafkaOptions, KafkaSecrets>;

/** The page of a data source's settings, and what it did. */
class Page {
  readonly user: UserEvent = userEvent.setup({ delay: null, pointerEventsCheck: 0 });
  readonly changes: Options[] = [];

  constructor(jsonData: object, { secureJsonFields = {}, readOnly = false, ...saved }: Partial<Options> = {}) {
    render(<Settings page={this} saved={{ ...saved, jsonData, secureJsonFields, readOnly, name: 'Kafka' } as Options} />);
  }

  get last(): Options | undefined {
    return this.changes.at(-1);
  }

  async unfold(): Promise<void> {
    for (const button of screen.getAllByRole('button', { name: /^Expand section/ })) {
      await this.user.click(button);
    }
  }

  async write(label: string, text: string): Promise<void> {
    const field = control(label);
    await this.user.clear(field);
    await this.user.keyboard(`${text.replace(/[{[]/g, '$&$&')}{Tab}`);
  }

  async choose(label: string, option: string): Promise<void> {
    await this.user.click(control(label));
    await this.user.click(await screen.findByRole('option', { name: new RegExp(`^${option}`) }));
  }

  async toggle(label: string): Promise<void> {
    await this.user.click(control(label));
  }
}

function Settings({ page, saved }: { page: Page; saved: Options }) {
  const [options, setOptions] = useState(saved);
  return (
    <>
      <ConfigEditor
        options={options}
        onOptionsChange={(changed) => {
          page.changes.push(changed);
          setOptions(changed);
        }}
      />
      <button onClick={() => setOptions({ ...options, version: (options.version ?? 0) + 1 })}>Save</button>
    </>
  );
}

function control(label: string): HTMLElement {
  return screen.getByLabelText(label, { selector: 'input, textarea' });
}

const REGISTRY = { schemaRegistryUrl: 'https://registry:8081' };
const PEER = {
  bootstrapServers: 'localhost:9092',
  schemaRegistryUrl: 'http://registry:8081',
  schemaRegistryUsername: 'bob',
  messageFormat: 'json',
  enableSecureSocksProxy: false,
};

describe('saved settings', () => {
  it.each(contract)('open unchanged: $name', async ({ jsonData }) => {
    const page = new Page(jsonData);
    await page.unfold();
    expect(page.changes).toEqual([]);
  });

  it('show numbers and booleans that a provisioning file wrote as text', async () => {
    const page = new Page({ securityProtocol: 'SSL', tlsSkipVerify: 'true', timeout: '5000', topicAllow: 'a*, {b,c}', logLevel: 'DEBUG' });
    await page.unfold();
    expect(control('Skip verification')).toBeChecked();
    expect(control('Request timeout')).toHaveValue('5000');
    expect(control('Allowed topics')).toHaveValue('a*\n{b,c}');
    expect(screen.getByText('Debug')).toBeVisible();
  });

  it('show 0 as the default that it stands for', async () => {
    const page = new Page({ timeout: 0, flattenMaxDepth: 0 });
    await page.unfold();
    expect(control('Request timeout')).toHaveValue('');
    expect(control('Request timeout')).toHaveAttribute('placeholder', '10000');
    expect(control('Flatten depth')).toHaveAttribute('placeholder', '5');
  });

  it('cannot be changed where they come from a file', async () => {
    const page = new Page({ securityProtocol: 'SASL_SSL', tlsAuth: true, tlsAuthWithCACert: true }, { readOnly: true });
    await page.unfold();
    for (const field of document.querySelectorAll('input, textarea')) {
      expect(field).toBeDisabled();
    }
  });

  it.each([
    ['bob', 'User and password'],
    ['', 'None'],
  ])('show the registry’s login as the process takes it, with the user “%s”', (schemaRegistryUsername, want) => {
    new Page({ ...PEER, schemaRegistryUsername });
    expect(screen.getByText(want)).toBeVisible();
  });
});

interface Case {
  name: string;
  saved?: object;
  act(page: Page): Promise<void>;
  /** The keys that differ afterwards; `undefined` for one that is gone. */
  patch: Partial<KafkaOptions>;
  /** The control stands in a section that opens with a click. */
  folded?: boolean;
}

const CASES: Case[] = [
  { name: 'brokers', act: (p) => p.write('Bootstrap servers', 'a:1,b'), patch: { bootstrapServers: 'a:1,b' } },
  { name: 'no brokers', act: (p) => p.write('Bootstrap servers', ''), patch: { bootstrapServers: undefined } },
  { name: 'client id', act: (p) => p.write('Client id', 'me'), patch: { clientId: 'me' } },
  { name: 'group id', act: (p) => p.write('Group id', 'g'), patch: { groupId: 'g' } },
  { name: 'protocol', act: (p) => p.choose('Security protocol', 'SASL_SSL'), patch: { securityProtocol: 'SASL_SSL' } },
  {
    name: 'mechanism',
    saved: { securityProtocol: 'SASL_SSL' },
    act: (p) => p.choose('SASL mechanism', 'SCRAM-SHA-512'),
    patch: { saslMechanisms: 'SCRAM-SHA-512' },
  },
  { name: 'user', saved: { securityProtocol: 'SASL_PLAINTEXT' }, act: (p) => p.write('User', 'alice'), patch: { saslUsername: 'alice' } },
  { name: 'server name', saved: { securityProtocol: 'SSL' }, act: (p) => p.write('Server name', 'k'), patch: { serverName: 'k' } },
  { name: 'own CA', saved: { securityProtocol: 'SSL' }, act: (p) => p.toggle('Own certificate authority'), patch: { tlsAuthWithCACert: true } },
  { name: 'client certificate', saved: { securityProtocol: 'SSL' }, act: (p) => p.toggle('Client certificate'), patch: { tlsAuth: true } },
  { name: 'skip verification', saved: { securityProtocol: 'SSL' }, act: (p) => p.toggle('Skip verification'), patch: { tlsSkipVerify: true } },
  { name: 'allowed topics', act: (p) => p.write('Allowed topics', 'a*\n\n{b,c}'), patch: { topicAllow: ['a*', '{b,c}'] } },
  { name: 'denied topics', act: (p) => p.write('Denied topics', 'x'), patch: { topicDeny: ['x'] } },
  { name: 'nothing denied', saved: { topicDeny: ['x'] }, act: (p) => p.write('Denied topics', ''), patch: { topicDeny: undefined } },
  { name: 'registry', act: (p) => p.write('Registry URL', 'http://a:1,http://b'), patch: { schemaRegistryUrl: 'http://a:1,http://b' } },
  { name: 'no registry', act: (p) => p.write('Registry URL', ''), patch: { schemaRegistryUrl: undefined } },
  { name: 'registry type', act: (p) => p.choose('Registry type', 'Apicurio'), patch: { schemaRegistryType: 'apicurio' } },
  { name: 'registry login', act: (p) => p.choose('Registry login', 'OAuth'), patch: { schemaRegistryAuth: 'oauth' } },
  { name: 'registry user', act: (p) => p.write('Registry user', 'eve'), patch: { schemaRegistryUsername: 'eve' } },
  {
    name: 'token URL',
    saved: { schemaRegistryAuth: 'oauth' },
    act: (p) => p.write('Token URL', 'https://l/t'),
    patch: { schemaRegistryOAuthTokenUrl: 'https://l/t' },
  },
  { name: 'OAuth client', saved: { schemaRegistryAuth: 'oauth' }, act: (p) => p.write('OAuth client id', 'me'), patch: { schemaRegistryOAuthClientId: 'me' } },
  { name: 'scope', saved: { schemaRegistryAuth: 'oauth' }, act: (p) => p.write('Scope', 'a b'), patch: { schemaRegistryOAuthScope: 'a b' } },
  { name: 'registry server name', saved: REGISTRY, act: (p) => p.write('Registry server name', 'r'), patch: { schemaRegistryServerName: 'r' } },
  {
    name: 'skip verification of the registry',
    saved: REGISTRY,
    act: (p) => p.toggle('Skip verification of the registry'),
    patch: { schemaRegistryTlsSkipVerify: true },
  },
  { name: 'registry timeout', act: (p) => p.write('Registry timeout', '900'), patch: { schemaRegistryTimeout: 900 } },
  { name: 'live budget', folded: true, act: (p) => p.write('Live budget', '64'), patch: { liveSlotKiB: 64 } },
  { name: 'depth', folded: true, act: (p) => p.write('Flatten depth', '9'), patch: { flattenMaxDepth: 9 } },
  { name: 'fields', folded: true, act: (p) => p.write('Field limit', '50'), patch: { flattenFieldCap: 50 } },
  { name: 'timeout', folded: true, act: (p) => p.write('Request timeout', '500'), patch: { timeout: 500 } },
  { name: 'default timeout', folded: true, saved: { timeout: 9000 }, act: (p) => p.write('Request timeout', ''), patch: { timeout: undefined } },
  { name: 'health check', folded: true, act: (p) => p.write('Health check timeout', '4000'), patch: { healthcheckTimeout: 4000 } },
  { name: 'metadata', folded: true, act: (p) => p.write('Metadata interval', '5000'), patch: { metadataInterval: 5000 } },
  { name: 'log level', folded: true, act: (p) => p.choose('Log level', 'Debug'), patch: { logLevel: 'debug' } },
];

describe('a control', () => {
  it.each(CASES)('changes its key and no other: $name', async ({ saved = {}, act, patch, folded }) => {
    const before = { ...PEER, ...saved };
    const page = new Page(before, { secureJsonFields: { schemaRegistryPassword: true } });
    if (folded) {
      await page.unfold();
    }
    await act(page);
    const want: Record<string, unknown> = { ...before, ...patch };
    for (const key of Object.keys(want)) {
      if (want[key] === undefined) {
        delete want[key];
      }
    }
    expect(page.last?.jsonData).toStrictEqual(want);
    expect(page.last?.secureJsonFields).toEqual({ schemaRegistryPassword: true });
    expect(page.last?.name).toBe('Kafka');
  });
});

describe('a secret', () => {
  const TLS = { securityProtocol: 'SASL_SSL', tlsAuth: true, tlsAuthWithCACert: true };
  const SECRETS: Array<[string, keyof KafkaSecrets, object]> = [
    ['Password', 'saslPassword', TLS],
    ['CA certificate', 'tlsCACert', TLS],
    ['Certificate', 'tlsClientCert', TLS],
    ['Private key', 'tlsClientKey', TLS],
    ['Registry password', 'schemaRegistryPassword', { ...REGISTRY, schemaRegistryAuth: 'basic' }],
    ['Registry token', 'schemaRegistryToken', { ...REGISTRY, schemaRegistryAuth: 'bearer' }],
    ['OAuth client secret', 'schemaRegistryOAuthClientSecret', { ...REGISTRY, schemaRegistryAuth: 'oauth' }],
    ['Registry CA certificate', 'schemaRegistryTlsCACert', REGISTRY],
    ['Registry certificate', 'schemaRegistryTlsClientCert', REGISTRY],
    ['Registry private key', 'schemaRegistryTlsClientKey', REGISTRY],
  ];

  it.each(SECRETS)('%s is written', async (label, key, settings) => {
    const page = new Page(settings);
    await page.write(label, 'secret');
    expect(page.last?.secureJsonData).toEqual({ [key]: 'secret' });
    expect(page.last?.jsonData).toEqual(settings);
  });

  it.each(SECRETS)('%s is kept until it is reset', async (_, key, settings) => {
    const page = new Page(settings, { secureJsonFields: { [key]: true, other: true } });
    await page.user.click(screen.getByRole('button', { name: 'Reset' }));
    expect(page.changes).toHaveLength(1);
    expect(page.last?.secureJsonFields).toEqual({ [key]: false, other: true });
    expect(page.last?.secureJsonData).toEqual({ [key]: '' });
  });

  it('is never shown while it is typed', () => {
    new Page(TLS);
    expect(control('Password')).toHaveAttribute('type', 'password');
  });
});

describe('the registry’s test', () => {
  const button = () => screen.getByRole('button', { name: 'Test registry' });

  it('asks the process, and says what it says', async () => {
    const get = vi.fn(async () => ({ status: 1, message: 'Schema registry is accessible' }));
    setBackendSrv({ get } as never);
    const page = new Page(REGISTRY, { uid: 'a b' });
    await page.user.click(button());
    expect(await screen.findByText('Schema registry is accessible')).toBeVisible();
    expect(get).toHaveBeenCalledExactlyOnceWith('/api/datasources/uid/a%20b/resources/validate-schema-registry', undefined, undefined, {
      showErrorAlert: false,
    });
  });

  it('says what is wrong in the words of the process', async () => {
    const refused = { status: 400, data: { status: 2, message: 'Cannot connect to schema registry: refused' }, config: {} };
    setBackendSrv({ get: () => Promise.reject(refused) } as never);
    const page = new Page(REGISTRY, { uid: 'x' });
    await page.user.click(button());
    expect(await screen.findByText('Cannot connect to schema registry: refused')).toBeVisible();
  });

  it('waits until what was changed is saved', async () => {
    const page = new Page(REGISTRY, { uid: 'x', version: 1 });
    expect(button()).toBeEnabled();
    await page.write('Registry URL', 'http://other:8081');
    expect(button()).toBeDisabled();
    expect(screen.getByText(/Save first/)).toBeVisible();
    await page.user.click(screen.getByRole('button', { name: 'Save' }));
    expect(button()).toBeEnabled();
    await page.write('Registry URL', 'http://another:8081');
    await page.write('Registry URL', 'http://other:8081');
    expect(button()).toBeEnabled();
  });

  it('is there only where there is a registry', () => {
    new Page({});
    expect(screen.queryByRole('button', { name: 'Test registry' })).toBeNull();
  });
});

describe('what is wrong stands beside the field', () => {
  const CERTIFICATE = '-----BEGIN CERTIFICATE-----\nMII\n-----END CERTIFICATE-----';
  const KEY = '-----BEGIN PRIVATE KEY-----\nMII\n-----END PRIVATE KEY-----';

  it.each<[object, Record<string, boolean>, string[]]>([
    [{ bootstrapServers: 'localhost:9092' }, {}, []],
    [{ bootstrapServers: 'a, b:9092 ,[::1]:9092,[2001:db8::5]' }, {}, []],
    [{ bootstrapServers: '::1' }, {}, ['Put an IPv6 address in brackets']],
    [{ bootstrapServers: 'fe80::1:9092' }, {}, ['Put an IPv6 address in brackets']],
    [{ bootstrapServers: 'http://a:9092' }, {}, ['without “http://”']],
    [{ bootstrapServers: 'a:9092 b:9092' }, {}, ['Put commas between the brokers']],
    [{ bootstrapServers: 'a:9092;b:9092' }, {}, ['Put commas between the brokers']],
    [{ bootstrapServers: 'a:99999' }, {}, ['a port from 1 to 65535']],
    [{ bootstrapServers: 'a:0' }, {}, ['a port from 1 to 65535']],
    [{ bootstrapServers: 'a:' }, {}, ['a port from 1 to 65535']],
    [{ bootstrapServers: ':9092' }, {}, ['is no address']],
    [{ bootstrapServers: '[::1' }, {}, ['is no address']],
    [{ securityProtocol: 'TLS' }, {}, ['none of Kafka’s protocols']],
    [{ securityProtocol: 'SASL_SSL', saslMechanisms: 'GSSAPI' }, {}, ['not supported yet']],
    [{ securityProtocol: 'SASL_SSL', saslUsername: 'alice' }, {}, ['The user needs a password']],
    [{ securityProtocol: 'SASL_SSL', saslUsername: 'alice' }, { saslPassword: true }, []],
    [{ securityProtocol: 'SASL_SSL' }, { saslPassword: true }, ['The password needs a user']],
    [{ securityProtocol: 'PLAINTEXT', saslUsername: 'alice', tlsAuth: true }, {}, []],
    [{ securityProtocol: 'SSL', tlsAuthWithCACert: true }, {}, ['Paste the authority’s certificate']],
    [{ securityProtocol: 'SSL', tlsAuth: true }, { tlsClientCert: true }, ['The certificate needs its key']],
    [{ securityProtocol: 'SSL', tlsAuth: true }, { tlsClientKey: true }, ['The key needs its certificate']],
    [{ securityProtocol: 'SSL', tlsAuth: true }, { tlsClientKey: true, tlsClientCert: true }, []],
    [{ securityProtocol: 'SSL', tlsSkipVerify: true }, {}, ['are not checked']],
    [{ schemaRegistryUrl: 'http://a, https://[::1]:8081/base/' }, {}, []],
    [{ schemaRegistryUrl: 'registry:8081' }, {}, ['begins with http:// or https://']],
    [{ schemaRegistryUrl: 'http://a,b:1' }, {}, ['begins with http:// or https://: “b:1”']],
    [{ schemaRegistryUrl: 'http://a b' }, {}, ['is no address']],
    [{ schemaRegistryUrl: 'http://:x' }, {}, ['is no address']],
    [{ schemaRegistryUrl: 'http://a?x=1' }, {}, ['Leave out']],
    [{ schemaRegistryUrl: 'http://bob:pw@a' }, {}, ['can read the password']],
    [{ ...REGISTRY, schemaRegistryType: 'glue' }, {}, ['no type of registry']],
    [{ ...REGISTRY, schemaRegistryAuth: 'kerberos' }, {}, ['no way to log in']],
    [{ ...REGISTRY, schemaRegistryUsername: 'bob' }, {}, ['The user needs a password']],
    [{ ...REGISTRY, schemaRegistryUsername: 'bob' }, { schemaRegistryPassword: true }, []],
    [REGISTRY, { schemaRegistryUsername: true, schemaRegistryPassword: true }, []],
    [REGISTRY, { schemaRegistryPassword: true }, ['The password needs a user']],
    [{ ...REGISTRY, schemaRegistryAuth: 'none', schemaRegistryUsername: 'bob' }, {}, []],
    [{ ...REGISTRY, schemaRegistryAuth: 'bearer' }, {}, ['Paste the token']],
    [{ ...REGISTRY, schemaRegistryAuth: 'oauth' }, {}, ['the address that gives tokens', 'Write the client id', 'Paste the client’s secret']],
    [REGISTRY, { schemaRegistryTlsClientCert: true }, ['The certificate needs its key']],
    [REGISTRY, { schemaRegistryTlsClientKey: true }, ['The key needs its certificate']],
    [{ ...REGISTRY, schemaRegistryTlsSkipVerify: true }, {}, ['is not checked']],
    [{ ...REGISTRY, schemaRegistryTimeout: 1 }, {}, ['from 100 to 60,000']],
    [{ topicAllow: ['a*', '[ab]?', '{a,b}'] }, {}, []],
    [{ topicAllow: ['[a'] }, {}, ['A bracket in “[a” has no partner']],
    [{ topicDeny: ['a b'] }, {}, ['One pattern a line']],
    [{ liveSlotKiB: 1 }, {}, ['from 32 to 65,536']],
    [{ flattenMaxDepth: 65 }, {}, ['from 1 to 64']],
    [{ timeout: 50 }, {}, ['from 100 to 300,000']],
    [{ healthcheckTimeout: 1500.5 }, {}, ['A whole number']],
  ])('%j with %j', async (jsonData, secureJsonFields, wants) => {
    const page = new Page(jsonData, { secureJsonFields });
    await page.unfold();
    const said = screen.queryAllByRole('alert').map(({ textContent }) => textContent);
    expect(said).toHaveLength(wants.length);
    wants.forEach((want, at) => expect(said[at]).toContain(want));
  });

  it.each<[string, string, string | undefined]>([
    ['Certificate', CERTIFICATE, undefined],
    ['Certificate', KEY, 'This is a private key'],
    ['Certificate', 'MII', 'begins with -----BEGIN CERTIFICATE-----'],
    ['Private key', KEY, undefined],
    ['Private key', KEY.replace('PRIVATE', 'RSA PRIVATE'), undefined],
    ['Private key', KEY.replace('PRIVATE', 'ENCRYPTED PRIVATE'), 'protected by a password'],
    ['Private key', CERTIFICATE, 'This is a certificate'],
    ['Private key', 'MII', 'begins with -----BEGIN PRIVATE KEY-----'],
  ])('%s: %j', async (label, pem, want) => {
    const page = new Page({ securityProtocol: 'SSL', tlsAuth: true }, { secureJsonFields: { [label === 'Certificate' ? 'tlsClientKey' : 'tlsClientCert']: true } });
    await page.user.click(control(label));
    await page.user.paste(pem);
    const said = screen.queryByRole('alert');
    if (want === undefined) {
      expect(said).toBeNull();
    } else {
      expect(said).toHaveTextContent(want);
    }
  });

  it('a number out of range stays in the field and is not saved', async () => {
    const page = new Page({ timeout: 5000 });
    await page.unfold();
    await page.write('Request timeout', '300001');
    expect(control('Request timeout')).toHaveValue('300001');
    expect(screen.getByRole('alert')).toHaveTextContent('from 100 to 300,000');
    expect(page.changes).toEqual([]);
  });
});

it('has a section for TLS and one for the login only where the protocol has them', async () => {
  const page = new Page({});
  const sections = () => screen.getAllByRole('heading').map(({ textContent }) => textContent);
  expect(sections()).toEqual(['Connection', 'Security', 'Schema registry', 'Topics', 'Limits', 'Advanced']);
  await page.choose('Security protocol', 'SASL_SSL');
  expect(sections()).toEqual(['Connection', 'Security', 'Authentication', 'TLS', 'Schema registry', 'Topics', 'Limits', 'Advanced']);
  expect(control('Server name')).toBeEnabled();
  await page.choose('Security protocol', 'SSL');
  expect(sections()).toEqual(['Connection', 'Security', 'TLS', 'Schema registry', 'Topics', 'Limits', 'Advanced']);
});

it('has help at every control', async () => {
  const page = new Page({ securityProtocol: 'SASL_SSL', tlsAuth: true, tlsAuthWithCACert: true, ...REGISTRY, schemaRegistryAuth: 'oauth' });
  await page.unfold();
  const labels = [...document.querySelectorAll('label')].filter(({ textContent }) => textContent !== '');
  expect(labels).toHaveLength(36);
  labels.forEach((label) => expect(label.querySelector('span')?.textContent).toMatch(/\.$/));
});

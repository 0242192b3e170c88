/** What is wrong with a setting, in words; `undefined` where nothing is. */
type Wrong = string | undefined;

/** Checks a list of brokers: `host`, `host:port`, `1.2.3.4:9092` or `[::1]:9092`, with commas between them. */
export function brokers(list: string): Wrong {
  return firstWrong(list, broker);
}

function broker(entry: string): Wrong {
  if (/[\s;]/.test(entry)) {
    return `Put commas between the brokers: “${entry}”`;
  }
  if (entry.includes('://')) {
    return `Write host:port without “${entry.slice(0, entry.indexOf('://') + 3)}”`;
  }
  if (!entry.startsWith('[') && entry.split(':').length > 2) {
    return 'Put an IPv6 address in brackets, as in [2001:db8::5]:9092';
  }
  const parts = /^(\[[0-9a-fA-F:.%]+\]|[^[\]:/]+)(?::(.*))?$/.exec(entry);
  if (!parts) {
    return `“${entry}” is no address: write host:port`;
  }
  const port = parts[2];
  if (port !== undefined && !(/^\d{1,5}$/.test(port) && Number(port) >= 1 && Number(port) <= 65_535)) {
    return `“${entry}” needs a port from 1 to 65535`;
  }
  return undefined;
}

/** Checks a list of http or https addresses, with commas between them. */
export function urls(list: string): Wrong {
  return firstWrong(list, url);
}

function url(entry: string): Wrong {
  if (!/^https?:\/\//i.test(entry)) {
    return `An address begins with http:// or https://: “${entry}”`;
  }
  if (/[?#]/.test(entry)) {
    return 'Leave out “?” or “#” and what follows';
  }
  const address = /\s/.test(entry) ? undefined : parsed(entry);
  if (address === undefined) {
    return `“${entry}” is no address: write https://host:port`;
  }
  return address.username !== '' || address.password !== ''
    ? 'Whoever sees these settings can read the password in the address: write user and password in the fields below'
    : undefined;
}

function parsed(entry: string): URL | undefined {
  try {
    return new URL(entry);
  } catch {
    return undefined;
  }
}

/** Checks that a text is a certificate, or several, in PEM form. */
export function certificate(pem: string): Wrong {
  if (pem.trim() === '' || /-----BEGIN (TRUSTED )?CERTIFICATE-----/.test(pem)) {
    return undefined;
  }
  return pem.includes('PRIVATE KEY-----')
    ? 'This is a private key; the certificate goes here'
    : 'A certificate in PEM form begins with -----BEGIN CERTIFICATE-----';
}

/** Checks that a text is a private key in PEM form, and one that needs no password. */
export function privateKey(pem: string): Wrong {
  if (pem.trim() === '') {
    return undefined;
  }
  if (/-----BEGIN ENCRYPTED PRIVATE KEY-----|Proc-Type: 4,ENCRYPTED/.test(pem)) {
    return 'This key is protected by a password, which cannot be given here: use one without';
  }
  if (/-----BEGIN ([A-Z]+ )?PRIVATE KEY-----/.test(pem)) {
    return undefined;
  }
  return pem.includes('-----BEGIN CERTIFICATE-----')
    ? 'This is a certificate; the private key goes here'
    : 'A private key in PEM form begins with -----BEGIN PRIVATE KEY-----';
}

/** Checks topic patterns: what Kafka's names cannot hold can match nothing. */
export function globs(patterns: string[]): Wrong {
  for (const pattern of patterns) {
    if (count(pattern, '[') !== count(pattern, ']') || count(pattern, '{') !== count(pattern, '}')) {
      return `A bracket in “${pattern}” has no partner`;
    }
    if (/\s/.test(pattern)) {
      return `One pattern a line: “${pattern}” has a space`;
    }
  }
  return undefined;
}

/** Checks a number that may be left out; 0 stands for the default too. */
export function between(value: string, least: number, most: number): Wrong {
  const trimmed = value.trim();
  if (trimmed === '' || trimmed === '0') {
    return undefined;
  }
  const number = Number(trimmed);
  return /^\d+$/.test(trimmed) && number >= least && number <= most
    ? undefined
    : `A whole number from ${least.toLocaleString('en')} to ${most.toLocaleString('en')}; empty for the default`;
}

function count(within: string, what: string): number {
  return within.split(what).length - 1;
}

/** Checks the entries of a list with commas between them, up to the first that is wrong. */
function firstWrong(list: string, check: (entry: string) => Wrong): Wrong {
  for (const entry of list.split(',').map((part) => part.trim())) {
    const wrong = entry === '' ? undefined : check(entry);
    if (wrong !== undefined) {
      return wrong;
    }
  }
  return undefined;
}

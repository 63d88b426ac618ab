import { section } from './section.js';
import type { Setting } from './setting.js';
import { PEM } from './text-file.js';

/** Serves the keys of listeners and of clients with the same row. */
export const TLS_PASSPHRASE = {
  kind: 'text',
  mayBeFile: true,
  default: null,
  secret: true,
  missedBy: 'encrypted keys',
  buys: 'Opens an encrypted tls.key.',
  costs: 'A secret: prefer a file or the environment.',
} as const satisfies Setting;

/** Rows of TLS to a server. */
export const CLIENT_TLS = {
  ca: {
    ...PEM,
    defaultText: "Node.js's list",
    missedBy: 'private authorities',
    buys: 'Trusts certificates signed by this authority only (PEM).',
    costs: 'Must be replaced before it expires.',
  },
  cert: {
    ...PEM,
    missedBy: 'users of mTLS',
    buys: 'Client certificate (PEM), where the server asks for one.',
    costs: 'Needs tls.key.',
  },
  key: {
    ...PEM,
    secret: true,
    missedBy: 'users of mTLS',
    buys: 'Private key of the client certificate (PEM).',
    costs: 'A secret: prefer a file or the environment.',
  },
  passphrase: TLS_PASSPHRASE,
  servername: {
    kind: 'text',
    default: null,
    defaultText: 'the host of the address',
    missedBy: 'servers addressed by IP',
    buys: 'The name expected in the certificate, where servers are addressed by IP.',
    costs: 'The same name for all servers.',
  },
} as const satisfies Readonly<Record<string, Setting>>;

/** TLS of connections to the store of the topic. */
export const TLS = section({
  enabled: {
    kind: 'switch',
    default: false,
    defaultText: 'false; true where a key of tls is given',
    missedBy: 'public authorities',
    buys: 'Encrypted connections. `tls: true` is short for `tls: { enabled: true }`.',
    costs: 'A few milliseconds per connection.',
  },
  ...CLIENT_TLS,
});

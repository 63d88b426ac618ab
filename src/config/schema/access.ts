import { z } from 'zod';
import { section } from '../setting/section.js';
import { PEM } from '../setting/text-file.js';
import { TLS_PASSPHRASE } from '../setting/tls.js';
import { CERTIFICATE, TOKEN } from './grants.js';

/** Lists the callers (docs/operate/access.md). */
export const AUTH = section({
  tokens: {
    kind: 'entries',
    of: { schema: z.array(TOKEN), text: 'a list of tokens (docs/operate/access.md)', isJsonInVariable: true },
    mayBeFile: true,
    default: null,
    defaultText: 'none',
    missedBy: 'whoever asks over a network',
    buys: 'Bearer tokens: name, roles, perhaps tenants, and the hash that `quotamesh token new` prints; or { file: PATH } of a YAML file with the list, at most 256 KiB. Hot.',
    costs: 'Every node needs the same. Who holds a token has its roles until it is taken out.',
  },
  certificates: {
    kind: 'entries',
    of: { schema: z.array(CERTIFICATE), text: 'a list of rules (docs/operate/access.md)', isJsonInVariable: true },
    default: null,
    defaultText: 'none',
    missedBy: 'users of mTLS',
    buys: 'Roles by the names in a client certificate (mTLS); the first rule that matches counts. Hot.',
    costs:
      'Needs http.tls.clientCa. A certificate counts until it expires or its rule goes: revocation lists are not read.',
  },
});

/** Certificate, key and client authorities of a listener: HTTP, and MQTT. */
export const LISTENER_TLS = section({
  cert: {
    ...PEM,
    missedBy: 'whoever encrypts',
    buys: 'TLS: the certificate of this listener, and those between it and the authority (PEM). Hot.',
    costs:
      'Needs tls.key; clients without TLS are not answered any more. Of MQTT a handshake (some 2 ms) and 40 KB more per connection. Must be replaced before it expires.',
  },
  key: {
    ...PEM,
    secret: true,
    missedBy: 'whoever encrypts',
    buys: 'Private key of the certificate (PEM). Hot.',
    costs: 'A secret: prefer a file or the environment.',
  },
  passphrase: TLS_PASSPHRASE,
  clientCa: {
    ...PEM,
    missedBy: 'users of mTLS',
    buys: 'Asks clients for a certificate of this authority (PEM), by which auth.certificates gives them roles. Hot.',
    costs: 'Use an authority of your own: whatever it signs may come in.',
  },
  clientCertificates: {
    kind: 'choice',
    default: 'optional',
    choices: ['optional', 'required'],
    missedBy: 'users of mTLS alone',
    buys: 'required: without a certificate nobody gets through the handshake.',
    costs: 'Probes of /livez, scrapes and clients that have only a password are shut out.',
  },
});
export type ListenerTlsSettings = z.output<typeof LISTENER_TLS>;

import { z } from 'zod';
import { section } from '../setting/section.js';
import type { Setting } from '../setting/setting.js';
import { CERTIFICATE, TOKEN } from './grants.js';
import { PEM_REMEDY, TLS_PASSPHRASE } from './tls.js';

/** Who may ask (docs/operate/access.md). */
export const AUTH = section({
  tokens: {
    kind: 'entries',
    of: { schema: z.array(TOKEN), text: 'a list of tokens (docs/operate/access.md)', isJsonInVariable: true },
    default: null,
    defaultText: 'none',
    buys: 'Bearer tokens: name, roles, perhaps tenants, and the hash that `quotamesh token new` prints. Hot.',
    costs: 'Every node needs the same. Who holds a token has its roles until it is taken out.',
  },
  tokensFile: {
    kind: 'text',
    default: null,
    buys: 'A YAML file with a list of tokens like `tokens`, beside those (at most 256 KiB; relative paths as elsewhere). Hot.',
    costs: 'One more file to keep; it is watched like the configuration.',
  },
  certificates: {
    kind: 'entries',
    of: { schema: z.array(CERTIFICATE), text: 'a list of rules (docs/operate/access.md)', isJsonInVariable: true },
    default: null,
    defaultText: 'none',
    buys: 'Roles by the names in a client certificate (mTLS); the first rule that matches counts. Hot.',
    costs:
      'Needs http.tls.clientCa. A certificate counts until it expires or its rule goes: revocation lists are not read.',
  },
});

/** Certificate, key and client authorities of a listener. */
function listenerTls(cert: Pick<Setting, 'buys' | 'costs'>, requiredCosts: string) {
  return section({
    cert: { kind: 'text', mayBeFile: true, default: null, remedy: PEM_REMEDY, ...cert },
    key: {
      kind: 'text',
      mayBeFile: true,
      default: null,
      secret: true,
      remedy: PEM_REMEDY,
      buys: 'Private key of the certificate (PEM). Hot.',
      costs: 'A secret: prefer a file or the environment.',
    },
    passphrase: TLS_PASSPHRASE,
    clientCa: {
      kind: 'text',
      mayBeFile: true,
      default: null,
      remedy: PEM_REMEDY,
      buys: 'Asks clients for a certificate of this authority (PEM), by which auth.certificates gives them roles. Hot.',
      costs: 'Use an authority of your own: whatever it signs may come in.',
    },
    clientCertificates: {
      kind: 'choice',
      default: 'optional',
      choices: ['optional', 'required'],
      buys: 'required: without a certificate nobody gets through the handshake.',
      costs: requiredCosts,
    },
  });
}

export const HTTP_TLS = listenerTls(
  {
    buys: 'HTTPS: the certificate of this node, and those between it and the authority (PEM). Hot.',
    costs: 'Needs tls.key; plain HTTP is not answered any more. Must be replaced before it expires.',
  },
  'Probes of /livez and scrapes need one too.',
);
export const MQTT_TLS = listenerTls(
  {
    buys: 'MQTT over TLS: the certificate of this broker, and those between it and the authority (PEM). Hot.',
    costs:
      'Needs tls.key; plain MQTT is not answered any more. A handshake (some 2 ms) and 40 KB more per connection. Must be replaced before it expires.',
  },
  'Clients that have only a password are shut out.',
);
export type ListenerTlsSettings = z.output<typeof HTTP_TLS>;

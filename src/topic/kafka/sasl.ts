import { section } from '../../config/setting/section.js';
import { SECRET } from '../../config/setting/text-file.js';

/** Name of OAUTHBEARER, in settings as in kafkajs. */
export const OAUTH = 'oauthbearer';

/** Proves to Kafka who connects. `saslWay` says which key belongs to which mechanism. */
export const SASL = section({
  mechanism: {
    kind: 'choice',
    default: null,
    choices: ['plain', 'scram-sha-256', 'scram-sha-512', OAUTH],
    missedBy: 'every secured Kafka',
    buys: 'Authentication at Kafka: by sasl.username and sasl.password, or with oauthbearer by tokens.',
    costs: 'plain sends the password as it is, oauthbearer the token: use them with tls only.',
  },
  username: {
    kind: 'text',
    default: null,
    missedBy: 'users of SASL',
    buys: 'User at Kafka.',
    costs: 'Needs rights on the topics only.',
  },
  password: {
    ...SECRET,
    missedBy: 'users of SASL',
    buys: 'Password of the user.',
    costs: 'A secret: prefer a file or the environment.',
  },
  tokenEndpoint: {
    kind: 'text',
    default: null,
    remedy: 'Give the URL of the token endpoint of the identity provider, or the path of a file in sasl.tokenFile.',
    missedBy: 'users of OAuth',
    buys: 'oauthbearer: tokens are asked for here (client credentials, RFC 6749 4.4), anew after 80 % of their life.',
    costs:
      'https, but to this machine; a private authority must be in NODE_EXTRA_CA_CERTS. Tokens must live for 30 s at least.',
  },
  clientId: {
    kind: 'text',
    default: null,
    missedBy: 'users of OAuth',
    buys: 'oauthbearer: who asks at sasl.tokenEndpoint.',
    costs: 'Nothing.',
  },
  clientSecret: {
    ...SECRET,
    missedBy: 'users of OAuth',
    buys: 'oauthbearer: proves it there.',
    costs: 'A secret: prefer a file or the environment.',
  },
  scope: {
    kind: 'text',
    default: null,
    missedBy: 'identity providers that ask for it',
    buys: 'oauthbearer: the scope that is asked for.',
    costs: 'Nothing.',
  },
  tokenFile: {
    kind: 'text',
    default: null,
    missedBy: 'Kubernetes’ service accounts',
    buys: 'oauthbearer: the token stands in this file, which is read again whenever a connection proves who it is.',
    costs: 'Somebody must write a new token in time, as Kubernetes does with the token of a service account.',
  },
});

/** Names what a way to authenticate needs, and what else it takes. */
export interface SaslWay {
  readonly needs: readonly string[];
  readonly takes: readonly string[];
}

export function saslWay(mechanism: unknown, usesTokenFile: boolean): SaslWay {
  if (mechanism !== OAUTH) return { needs: ['mechanism', 'username', 'password'], takes: [] };
  if (usesTokenFile) return { needs: ['tokenFile'], takes: [] };
  return { needs: ['tokenEndpoint', 'clientId', 'clientSecret'], takes: ['scope'] };
}

/** Says why a secret must not be sent to this address; null = it may be. */
export function tokenEndpointProblem(text: string): string | null {
  if (!URL.canParse(text)) return 'is not a URL';
  const { protocol, hostname, username, password } = new URL(text);
  if (username !== '' || password !== '') return 'must not hold credentials';
  if (protocol === 'https:') return null;
  const isLocal = ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
  return protocol === 'http:' && isLocal ? null : 'must begin with https://, because the secret is sent to it';
}

import type { z } from 'zod';
import { section } from '../setting/section.js';
import { LISTEN_ADDRESS, type NamePattern } from '../setting/setting.js';
import { CLIENT_TLS } from '../setting/tls.js';
import { LISTENER_TLS } from './access.js';

const XDS_URL: NamePattern = {
  matches: /^https?:\/\/(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]+):\d{1,5}$/,
  text: 'http:// or https:// and HOST:PORT',
};

/** The management server that sends rules, and how it is asked. */
export const XDS = section({
  url: {
    kind: 'name',
    default: null,
    defaultText: 'none',
    pattern: XDS_URL,
    missedBy: 'Envoy Gateway and AI gateways',
    buys: 'Rules from this management server (xDS), as envoyproxy/ratelimit gets them: https://envoy-gateway:18001 of Envoy Gateway. In the stead of envoy.rules.',
    costs: 'Nothing is limited before its first answer; while it is away the rules stay.',
  },
  node: {
    kind: 'text',
    default: 'default',
    missedBy: 'Envoy Gateway, whose name for it is envoy-ratelimit',
    buys: 'The node id under which the server has the rules.',
    costs: 'A wrong one gets none.',
  },
  tls: section(CLIENT_TLS),
});
export type XdsSettings = z.output<typeof XDS>;

/** Settings of the gRPC listener that Envoy asks (docs/guide/envoy.md). */
export const ENVOY = section({
  listen: {
    kind: 'name',
    default: null,
    defaultText: 'none: Envoy is not served',
    pattern: LISTEN_ADDRESS,
    missedBy: 'gateways of Envoy',
    buys: 'gRPC at this HOST:PORT, by `quotamesh run`, `mqtt`, `kafka-quotas` and `createNode`; port 0 lets the system choose one.',
    costs: 'Other machines need `auth:`, or `insecure: true` (docs/operate/access.md).',
  },
  rules: {
    kind: 'text',
    default: null,
    defaultText: 'none: a descriptor is limited by the group or key that has its name',
    missedBy: 'whoever has rules of envoyproxy/ratelimit',
    buys: 'Rules in the format of envoyproxy/ratelimit, a YAML file or a folder of them, relative to this YAML. They are followed while the node runs (docs/guide/envoy-rules.md).',
    costs: 'A group, or a template of keys, for each rule; all nodes need the same.',
  },
  xds: XDS,
  unknownDomain: {
    kind: 'choice',
    default: 'allow',
    choices: ['allow', 'refuse'],
    missedBy: 'gateways whose domain may be misspelled',
    buys: 'refuse: a request of a domain that nothing here limits is over limit, instead of passing unlimited.',
    costs: 'A domain that is not limited yet is shut.',
  },
  chargedAfterwards: {
    kind: 'choice',
    default: 'looked-at',
    choices: ['looked-at', 'all', 'none'],
    missedBy: 'gateways that count tokens of language models at the end',
    buys: 'Which descriptors with a hits_addend of their own are charged it also where less is left, as work that is done: those of rules that gateways look at first (hits_addend 0), all, or none.',
    costs: 'all: whoever is refused owes, too, as with envoyproxy/ratelimit. A debt is one bucket at most.',
  },
  headers: {
    kind: 'choice',
    default: 'none',
    choices: ['none', 'ietf', 'x-ratelimit'],
    missedBy: 'clients behind a gateway that pace themselves',
    buys: 'Headers that Envoy adds to answers for clients. ietf: RateLimit-Policy and RateLimit as over HTTP, and Retry-After of a refusal; x-ratelimit: X-RateLimit-Limit, -Remaining and -Reset, for gateways that do not write them by themselves.',
    costs: 'Longer answers; limits and names of groups are seen by clients.',
  },
  tls: LISTENER_TLS,
});

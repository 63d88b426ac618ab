import { section } from '../setting/section.js';

/** Stands below `keys`, beside the templates: patterns that hold a `{field}` each. */
export const KEYS = section({
  maxLive: {
    kind: 'count',
    default: 1_000_000,
    min: 1,
    max: 100_000_000,
    missedBy: 'millions of API keys',
    buys: 'More keys in memory at one node at once. One more takes the place of a key whose bucket is full again, or is refused with 503.',
    costs: 'About 120 bytes each, and the name.',
  },
  publishNames: {
    kind: 'switch',
    default: true,
    missedBy: 'keys that are personal data',
    buys: 'Every node shows the busiest keys of all nodes, by name.',
    costs:
      'The names stand in the topic as they are. Where names are secrets, switch it off: a node then shows its own keys alone.',
  },
});

/** Roles that may send a limit with a request; the other roles may send no acquire. */
const LIMIT_ROLES = ['traffic', 'admin'] as const;
export type LimitRole = (typeof LIMIT_ROLES)[number];

/** Below `allowLimits` of a template, beside the highest quota. */
export const ALLOW_LIMITS = section({
  role: {
    kind: 'choice',
    default: 'traffic',
    choices: LIMIT_ROLES,
    missedBy: 'gateways that know their customers’ plans',
    buys: 'The callers that may send limits with requests: traffic, every client; admin, a gateway with a token of its own.',
    costs: 'Such a caller can give a key up to the highest quota that is allowed.',
  },
});

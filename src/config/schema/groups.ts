import type { z } from 'zod';
import { BURST_POLICIES, BURST_STARTS, LIMITERS, RAMP_MODES, TOPIC_SPLITS } from '../../core/base/settings.js';
import { HEADROOMS, ISOLATION_POLICIES } from '../../core/base/vocabulary.js';
import { DEFAULT_STRATEGY, STRATEGY_NAMES } from '../../core/convergence/strategies.js';
import { BUDGET_PERS } from '../../core/strict/budget-account.js';
import { largestAmount, smallestAmount } from '../../core/strict/budget-units.js';
import { type Members, section } from '../setting/section.js';
import { keyedLimits, LIMIT, RATE } from './limits.js';

const BURST_REMEDY = 'Write burst: 10 (messages), burst: 2s (of the quota), or burst: { messages: 10, bytes: 1MiB }.';
const BURST_COSTS =
  'Bursts are over-admission: any span of time holds at most its part of the quota and three bursts, one where ' +
  'burst.policy is divided, and what restarts add (docs/guide/tokens.md).';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** Below `ramp` of a group; docs/guide/ramps.md. */
export const RAMP = section({
  fromPerSecond: {
    ...RATE,
    default: null,
    defaultText: 'no ramp',
    missedBy: 'Numaflow’s starts',
    buys: 'A cold start, or a start after a long pause, admits no more than this many messages per second at first.',
    costs: 'Refused work until the ramp has reached the demand. Unused directions and bytes do not ramp.',
  },
  toPerSecond: {
    ...RATE,
    default: null,
    defaultText: 'the messagesPerSecond of the quota',
    missedBy: 'costs alone',
    buys: 'The end of the ramp, if not at the quota; needed where only cost has a quota.',
    costs: 'Below the quota: the rest of it is never used.',
  },
  overMs: {
    kind: 'duration',
    default: 10_000,
    min: 1000,
    max: 30 * DAY_MS,
    missedBy: 'Numaflow’s starts',
    buys: 'A gentler start: from the one to the other in this time. Levels move once a second.',
    costs:
      'Longer refusals. While a ramp climbs, the topic carries a hundred small records per climb beside its steps.',
  },
  mode: {
    kind: 'choice',
    default: 'relaxed',
    choices: RAMP_MODES,
    missedBy: 'Numaflow’s modes',
    buys:
      'The reason for it to climb. relaxed: a second with traffic; scheduled: time alone; only-if-used: a second in which ' +
      'enough of the ceiling was used; go-back-n: the same, and down again while less is used or nothing at all.',
    costs:
      'relaxed and scheduled offer the top to whoever comes with a burst; only-if-used and go-back-n refuse such a ' +
      'burst and climb behind it.',
  },
  thresholdRatio: {
    kind: 'ratio',
    default: 0.5,
    min: 0,
    max: 1,
    missedBy: 'Numaflow’s only-if-used',
    buys: 'only-if-used and go-back-n: a second counts as used only from this part of the ceiling on.',
    costs: 'Too high, and demand that is steady but below it never climbs.',
  },
});

const SHADOW_COSTS =
  'A shadow beside the quota in force is one group more, at every node and in the topic, and about a fifth of a decision.';

/** shadow: decisions are made and counted, and refuse nothing. */
export const MODES = ['enforce', 'shadow'] as const;

/** relaxed: by reports, nodes decide ahead of the log; strict: tokens count when they are read back. */
export const PROMISES = ['relaxed', 'strict'] as const;

const DROPPED_WORK = ['refunded', 'counted'] as const;

const RATES = {
  messagesPerSecond: { kind: 'rate', ...limit('messages') },
  bytesPerSecond: { kind: 'byte-rate', ...limit('bytes') },
} as const satisfies Members;

/** The quota of one direction, for the whole cluster. */
const QUOTA = section({
  ...RATES,
  costPerSecond: {
    ...LIMIT,
    kind: 'rate',
    missedBy: 'what costs by work: tokens, pages (FoundationDB)',
    buys: 'More cost units per second: work is admitted by count, by the average cost that was reported.',
    costs: 'Load on what the quota protects.',
  },
  reservedCostPerSecond: {
    ...RATE,
    isWritten: true,
    default: { amount: 0, per: 'second' },
    defaultText: '0',
    missedBy: 'FoundationDB’s reserved quotas',
    buys: 'The part of the cost quota that saturated backends never take away.',
    costs: 'A saturated backend is relieved by the others alone.',
  },
});

/** Plans one direction's rates; an absent one stays the group's. */
const PLANNED = section(RATES);

const DEPTH_ROW = { default: null, min: 1, remedy: BURST_REMEDY, costs: BURST_COSTS } as const;

const DEPTH = {
  messages: {
    ...DEPTH_ROW,
    kind: 'count',
    defaultText:
      '100 ms of the quota, or 3·√quota, or 10, whichever is most; at most a second of it, or 10. Of a quota per ' +
      'minute, hour or day all of it: 5 of 5/min',
    max: 1e12,
    missedBy: 'whose clients come in batches',
    buys: 'So many messages pass at once when the group has been idle (where: burst.policy). burst: 10 says it, too.',
  },
  bytes: {
    ...DEPTH_ROW,
    kind: 'bytes',
    defaultText: 'as for messages, with messages of the size that is reported',
    max: 2 ** 50,
    missedBy: 'senders of large messages',
    buys: 'So many bytes pass at once when the group has been idle.',
  },
  quotaMs: {
    ...DEPTH_ROW,
    kind: 'duration',
    defaultText: 'none: as above',
    max: DAY_MS,
    missedBy: 'whose bursts follow the quota',
    buys: 'The quota of so much time passes at once, messages and bytes. burst: 2s says it, too.',
  },
} as const satisfies Members;

const BUDGET_ROW = {
  default: null,
  defaultText: 'no budget',
  min: 1,
  max: Number.MAX_SAFE_INTEGER,
  costs: 'What the budget protects. Each node asks the log for what it spends (docs/guide/budgets.md).',
} as const;

/** Parts of a budget that are told when they are spent. */
export const WARN_AT: readonly number[] = [0.8, 1];

const BUDGET = section({
  messages: {
    ...BUDGET_ROW,
    kind: 'count',
    missedBy: 'plans that are sold per month, in requests',
    buys: 'So many messages of both directions in a period, and none more.',
  },
  bytes: {
    ...BUDGET_ROW,
    kind: 'bytes',
    missedBy: 'plans that are sold per month, in volume',
    buys: 'So many bytes of both directions in a period, and none more.',
  },
  tokens: {
    ...BUDGET_ROW,
    kind: 'count',
    missedBy: 'gateways before language models',
    buys: 'So many tokens of a model in a period, and none more; each request says how many it may use.',
  },
  cents: {
    ...BUDGET_ROW,
    kind: 'factor',
    min: smallestAmount('cents'),
    max: largestAmount('cents'),
    missedBy: 'whose prepaid work costs different prices',
    buys: 'So many cents in a period, and none more; each request says what it may cost. Exact to a millionth of a cent.',
  },
  per: {
    kind: 'choice',
    default: 'month',
    choices: BUDGET_PERS,
    missedBy: 'plans of other periods',
    buys: 'The calendar in which the budget is there again; weeks begin on Monday, a total never ends.',
    costs: 'A change counts when the present period ends.',
  },
  timezone: {
    kind: 'text',
    default: 'UTC',
    missedBy: 'whose customers count days where they live',
    buys: 'The IANA zone by whose midnight periods begin: Europe/Berlin.',
    costs: 'A change counts when the present period ends.',
  },
  carry: {
    kind: 'ratio',
    default: 0,
    max: 1,
    missedBy: 'plans whose unused part is kept',
    buys: 'What a period leaves is added to the next one, at most this part of the budget.',
    costs: 'A period may spend so much more. A change counts when the present period ends; no key keeps any.',
  },
  warnAt: {
    kind: 'ratios',
    default: WARN_AT,
    defaultText: '[80%, 100%]',
    min: 0.01,
    max: 1,
    missedBy: 'who sells more before a plan is used up',
    buys:
      'When so much of the period is spent, each node writes a line of its log, moves a metric and calls ' +
      '`node.onBudget`.',
    costs: 'A line for each of them, once a period and node. Keys tell none.',
  },
});

const REQUEST_ROW = {
  default: null,
  min: 1,
  buys: 'Larger single requests. An amount above the bucket is admitted when the bucket is full, and leaves debt.',
  costs: 'One request can leave the group in debt for maxRequest / quota seconds, as often longer as there are nodes.',
} as const;

export const GROUP = section({
  quota: section({ publish: QUOTA, dispatch: QUOTA }),
  ramp: RAMP,
  promise: {
    kind: 'choice',
    default: 'relaxed',
    choices: PROMISES,
    missedBy: 'quotas of which nothing may be over',
    buys:
      'strict: at no moment do all nodes together admit more than one central bucket, whatever is late, lost, frozen ' +
      'or restarted (docs/guide/strict.md).',
    costs:
      'strict: a node whose wallet is short waits a round trip to the log; with many nodes a shallow burst is not used ' +
      'up (`quotamesh sim strict --used` says how far); messages alone, and few other settings of a group.',
  },
  budget: BUDGET,
  waitMs: {
    kind: 'duration',
    default: null,
    defaultText: 'auto: one round trip to the log, as measured',
    min: 0,
    max: 600_000,
    missedBy: 'strict quotas and slots whose clients wait longer',
    buys:
      'Who asks a strict group, or one with concurrency, over HTTP or in a middleware, and names no wait, waits so ' +
      'long for tokens or a slot of others.',
    costs: 'Later refusals. 0: who asks gets what this node holds.',
  },
  concurrency: {
    kind: 'count',
    default: null,
    defaultText: 'no limit',
    min: 1,
    max: 1_000_000,
    missedBy: 'backends with few workers, connections or GPUs',
    buys:
      'More requests that run at once in the whole cluster. Each holds a slot from its start to its end, whatever the ' +
      'quota is (docs/guide/concurrency.md).',
    costs:
      'Load on what it protects. Requests must say when they end, so the group is asked by the middlewares, ' +
      '`node.enter` or `POST /v1/slots` alone.',
  },
  strategy: {
    kind: 'choice',
    default: DEFAULT_STRATEGY,
    choices: STRATEGY_NAMES,
    missedBy: 'PIP-82’s algorithms',
    buys: 'The division of the quota. max-min: everybody gets what they want or an equal (weighted) part of the rest.',
    costs: 'Each of the others has its price: docs/guide/strategies.md.',
  },
  expectedCost: {
    kind: 'factor',
    default: 1,
    min: 1e-6,
    max: 1e12,
    missedBy: 'costs in hundreds',
    buys: 'The cost of a message until one has been reported; say 2000 where one costs 2,000 tokens.',
    costs: 'Too low admits too much at the first start, too high too little. Averages never go below 1, or below this.',
  },
  floorRatio: {
    kind: 'ratio',
    default: 0.001,
    min: 0,
    max: 1,
    missedBy: 'quiet nodes with strict first requests',
    buys: 'Nodes without demand keep this part of the target, by weight, so that their first requests pass.',
    costs: 'That part cannot be lent to busy nodes.',
  },
  headroom: {
    kind: 'choice',
    default: 'by-weight',
    choices: HEADROOMS,
    missedBy: 'busy nodes, or steady ones',
    buys:
      'The holders of tokens that nobody wants now. by-weight: everybody, so that a node that wakes starts with its part at once; ' +
      'by-demand: nodes that are busy already; none: nobody.',
    costs:
      'by-weight: a busy node that wants more waits for one report; by-demand: so does a node that wakes; none: both ' +
      'do. For strategies that divide by demand.',
  },
  smoothingMs: {
    kind: 'duration',
    default: 0,
    min: 0,
    max: 600_000,
    missedBy: 'consumers that dislike jumps',
    buys: 'A smooth way to a new share: 63 % of it after this time, 95 % after three times. 0: at once.',
    costs: 'Slower convergence than the reports would allow, refused work meanwhile, and more reports on the way.',
  },
  slewPerSecond: {
    kind: 'ratio',
    default: null,
    defaultText: 'no limit',
    min: 0.001,
    max: 1000,
    missedBy: 'strict quotas',
    buys:
      'Nodes that have read differently far admit less above the quota: no share rises by more than this part of the ' +
      'target per second. Decreases are immediate.',
    costs: 'Tokens that one node gives up and another may not take yet lie idle; there are more reports on the way.',
  },
  minShareRatio: {
    kind: 'ratio',
    default: 0,
    min: 0,
    max: 1,
    missedBy: 'nodes that must never starve',
    buys: 'Every single node gets at least this part of the target, whatever it wants; at most 1/N each.',
    costs: 'That part cannot be lent to busy nodes: N times as much as floorRatio of the same value.',
  },
  maxShareRatio: {
    kind: 'ratio',
    default: 1,
    min: 0.001,
    max: 1,
    missedBy: 'backends with a limit per node',
    buys: 'More, for a single busy node. Below 1 no node gets a larger part of the target than its backend can bear.',
    costs: 'Below 1: quota lies idle while fewer than 1/maxShareRatio nodes are busy.',
  },
  burst: section({
    ...DEPTH,
    policy: {
      kind: 'choice',
      default: 'optimistic',
      choices: BURST_POLICIES,
      missedBy: 'strict bursts over many nodes',
      buys:
        'The nodes that take from a full bucket before others know of it. optimistic: each node all of it, with more than three ' +
        'nodes 2/(N − 1) of it; divided: each node 1/N.',
      costs: 'optimistic: nodes that wake within one delivery take up to three bursts; the debt is paid back.',
    },
    start: {
      kind: 'choice',
      default: 'full',
      choices: BURST_STARTS,
      missedBy: 'quotas that a lost topic must not refill',
      buys:
        'The content of a bucket after a node’s start. full: that of the log, and the burst where the log has none. ' +
        'empty: of that at most what has flowed in since it began to decide.',
      costs:
        'full: where the topic was lost with all nodes, the burst is there once more. empty: every start, and so every ' +
        'deploy, refuses what the bucket held (docs/guide/tokens.md).',
    },
  }),
  weights: {
    kind: 'weights',
    default: null,
    defaultText: '1 for every node',
    min: 0.001,
    max: 1000,
    missedBy: 'nodes of unequal size',
    buys: 'A mapping of node id to weight: weight 2 gets twice the share of weight 1 where both want more.',
    costs: 'Less for the others. All nodes must be configured alike.',
  },
  enabled: {
    kind: 'switch',
    default: true,
    missedBy: 'a quota to switch off for a while',
    buys: 'false: nothing of the group is limited, reported or recorded, and its other settings are kept for later.',
    costs: 'The quota protects nothing.',
  },
  mode: {
    kind: 'choice',
    default: 'enforce',
    choices: MODES,
    missedBy: 'a new quota, before it hurts',
    buys:
      'shadow: all decisions are made, counted, reported and shown as if the group were enforced, and none refuses ' +
      'anything, so that a new quota can be watched before it hurts (docs/guide/shadow.md).',
    costs: 'shadow: what the quota protects is not protected.',
  },
  shadow: section({
    quota: section({ publish: PLANNED, dispatch: PLANNED }),
    strategy: {
      kind: 'choice',
      default: null,
      defaultText: 'that of the group',
      choices: STRATEGY_NAMES,
      missedBy: 'another strategy, before it hurts',
      buys: 'The division of the planned quota.',
      costs: SHADOW_COSTS,
    },
    burst: section(DEPTH),
  }),
  limiter: {
    kind: 'choice',
    default: 'bucket',
    choices: LIMITERS,
    missedBy: 'Numaflow’s readers',
    buys:
      'The kind of limiter that holds a node to its share. bucket: a token bucket; window: whole tokens, all there at the beginning of ' +
      'every windowMs, never more than the share in one of them.',
    costs:
      'window: up to twice the share within an instant around a boundary, nothing of one window is left for the next, ' +
      'no burst; a batch above a window’s tokens needs atMost (docs/guide/batches-and-refunds.md).',
  },
  windowMs: {
    kind: 'duration',
    default: 1000,
    min: 100,
    max: 3_600_000,
    missedBy: 'Numaflow’s readers',
    buys: 'Larger batches at once. For limiter: window alone.',
    costs: 'Longer waits for the next window, and larger bursts at its beginning.',
  },
  dropped: {
    kind: 'choice',
    default: 'refunded',
    choices: DROPPED_WORK,
    missedBy: 'Numaflow’s filters',
    buys: 'The fate of the tokens of dropped work in a batch: refunded lets other work use them.',
    costs: 'counted: they are used up as if the work had been done.',
  },
  isolation: section({
    policy: {
      kind: 'choice',
      default: 'equal-share',
      choices: ISOLATION_POLICIES,
      missedBy: 'quotas that must hold, or must not, in an outage',
      buys:
        'The limit of a node that cannot read its own records, after isolation.holdMs: equal-share the share held ' +
        'or quota / nodes, whichever is less; floor its floor; closed nothing; open everything.',
      costs:
        'open forgets the quota; closed refuses while the topic is away; equal-share may add one node’s part when a ' +
        'single node is cut off.',
    },
    holdMs: {
      kind: 'duration',
      default: 10_000,
      min: 0,
      max: 3_600_000,
      missedBy: 'networks that blink',
      buys: 'Short outages pass unnoticed: the share held is kept for this long before the policy begins.',
      costs: 'The others may take over the share of a node that is cut off alone before it lets go.',
    },
  }),
  debtMs: {
    kind: 'duration',
    default: 60_000,
    min: 0,
    max: 86_400_000,
    missedBy: 'work measured afterwards',
    buys: 'Work that cannot be refused (consume, a reservation that cost more) is paid back, up to this much of the limit.',
    costs: 'So long may a flood of such work block a group afterwards; what exceeds it is let off.',
  },
  topics: {
    kind: 'choice',
    default: 'shared',
    choices: TOPIC_SPLITS,
    missedBy: 'brokers with many topics (PIP-82)',
    buys:
      'The division of a node’s share over its own topics (`topic` of an acquire): even, or proportional to what they ' +
      'use. Then one topic cannot starve its neighbours. shared: the first to come.',
    costs: 'About 0.3 µs per acquire, memory per topic, and up to 2 % of a share that is fully used.',
  },
  perTopic: keyedLimits('topic', 1000),
  perClient: keyedLimits('client', 10_000),
  maxRequest: section({
    messages: {
      ...REQUEST_ROW,
      kind: 'count',
      defaultText:
        '10 s of the quota (or its window), at least 1 and a burst of the cluster’s bucket; 1M where nothing limits or all is ' +
        'blocked',
      max: 1e12,
      missedBy: 'large single batches',
    },
    bytes: {
      ...REQUEST_ROW,
      kind: 'bytes',
      defaultText:
        '10 s of the quota (or its window), at least 64KiB (a message is not split); 1GiB where nothing limits or all is blocked',
      max: 2 ** 50,
      missedBy: 'large single messages',
    },
  }),
});
export type GroupSection = z.output<typeof GROUP>;

function limit(what: string) {
  return {
    ...LIMIT,
    missedBy: 'everybody',
    buys: `More ${what} per second for the whole cluster. 0 blocks; without a value there is no limit, below \`shadow\` that in force.`,
    costs: 'Load on what the quota protects.',
  } as const;
}

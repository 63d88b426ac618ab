import { printable } from '../../../base/errors/printable.js';
import { segmentOf } from '../../../config/setting/path-segment.js';
import { SECONDS_OF, SHORT_UNIT, type TimeUnit } from '../../../config/setting/quantity.js';
import { type RateName, spelledIn, unitIn } from '../../../config/setting/written-rate.js';
import type {
  DirectionExplanation,
  GroupExplanation,
  LimitingExplanation,
} from '../../../node/api/group-explanation.js';
import type {
  ClusterBucketStatus,
  QuotaAsWritten,
  RateStatus,
  ShadowDifference,
  ShadowDirectionStatus,
  StrictStatus,
} from '../../../node/api/node-status.js';
import type { NodeCommandOptions } from '../../node-client/node-address.js';
import { get, nodeAddress } from '../../node-client/node-requests.js';
import { print } from '../../terminal/print.js';

/** Writes a line per step of the decision, in order; names the binding ceiling last. */
export function explanationText(told: GroupExplanation): string {
  const { group, node, strategy, gate, rule, slots, budget, directions } = told;
  const first = [...ruleSteps(rule), ...slotSteps(slots, node), ...budgetSteps(budget)];
  const parts = Object.entries(directions).map(([direction, explained]) => {
    const steps = [...first, ...stepsOf(explained, strategy, node, gate)];
    const width = Math.max(...steps.map(([name]) => name.length));
    const lines = [`${group} ${direction}`, ...steps.map(([name, text]) => `  ${name.padEnd(width)}  ${text}`)];
    return lines.map(printable).join('\n');
  });
  return parts.join('\n\n');
}

/** Names the rule of Envoy that the group was made of. */
function ruleSteps(rule: GroupExplanation['rule'] | undefined): Step[] {
  return rule == null ? [] : [['rule', `${rule.place}, ${rule.domain}: ${rule.descriptor}`]];
}

/** Writes what a request needs before its tokens: a slot of a group with concurrency. */
function slotSteps(slots: GroupExplanation['slots'] | undefined, node: string): Step[] {
  if (slots == null) return [];
  const { because, limit, free, inUse, held, lost, waiting, holders, isInForce, waitsFor } = slots;
  const who = holders.map(({ nodeId, hold }) => `${nodeId} ${figure(hold)}`).join(', ');
  const without = lost > 0 ? `, ${figure(lost)} run without theirs` : '';
  return [
    ['slots', because === '' ? `${figure(free)} of ${figure(limit)} are free` : `lets nobody in: ${because}`],
    ['holders', who === '' ? 'nobody' : who],
    [`node ${node}`, `holds ${figure(held)}, ${figure(inUse)} in use, ${figure(waiting)} wait${without}`],
    ...(isInForce ? [] : [['limit', `the newest waits for requests of ${waitsFor.join(', ')}`] as const]),
  ];
}

/** Writes what is left of the group’s budget. */
function budgetSteps(budget: GroupExplanation['budget'] | undefined): Step[] {
  if (budget == null) return [];
  const { because, unit, per, limit, remaining, spent, held, lost, until } = budget;
  if (because !== '') return [['budget', `nothing is granted: ${because}`]];
  const gone = `${figure(spent)} spent, ${figure(held)} held by nodes${lost > 0 ? `, ${figure(lost)} lost` : ''}`;
  const end = until === null ? 'without end' : `until ${until}`;
  return [['budget', `${figure(remaining)} of ${figure(limit)} ${unit} per ${per} left ${end}: ${gone}`]];
}

type Step = readonly [name: string, text: string];

function stepsOf(told: DirectionExplanation, strategy: string, node: string, gate: GroupExplanation['gate']): Step[] {
  const { quotaAsWritten, cost, limiting, local } = told;
  const { rate, rates } = inUnitsOf(quotaAsWritten);
  return [
    ['quota', quotaText(told)],
    ['usage', rates(told.usage)],
    ['demand', rates(told.demand)],
    ['cost', costText(cost)],
    ['reserved', rate(told.reserved, 'messages')],
    ['desired', rate(told.desired, 'messages')],
    ...limitingSteps(limiting, rate),
    ['target', `${rate(told.target, 'messages')}: ${BINDS[told.binding]}`],
    ...rampSteps(told, rate),
    ['in force', rates(told.inForce) + (limiting.mode === 'report-only' ? ' (report-only: the target is not)' : '')],
    ...(told.strict == null ? shareSteps(told, strategy, node, gate) : strictSteps(told.strict, node)),
    [
      'refused',
      `${figure(timesRefused(local))} times, ${figure(local.refusedMessages)} messages, ${figure(local.refusedBytes)} bytes`,
    ],
    ...local.refusedBecause.map((refused): Step => ['because', becauseText(refused)]),
    ...(told.shadow === null ? [] : shadowSteps(told.shadow, local.refusedMessages)),
  ];
}

function shareSteps(
  told: DirectionExplanation,
  strategy: string,
  node: string,
  gate: GroupExplanation['gate'],
): readonly Step[] {
  const { rate, rates } = inUnitsOf(told.quotaAsWritten);
  const { local } = told;
  return [
    ['shares', `${rates(told.shareSum)} in all nodes, by ${strategy}`],
    ...(gate === null ? [] : [['gate', `each node on its own share, for ${gate}`] as const]),
    [`node ${node}`, `share ${rates(local.share)}${local.served ? '' : ' (not used here yet)'}, ${local.link}`],
    ...(told.clusterBucket === null ? [tokensStep(local)] : bucketSteps(told.clusterBucket, rate)),
  ];
}

/** Writes who holds what, or why this node admits nothing. */
function strictSteps(strict: StrictStatus, node: string): readonly Step[] {
  const { because, pool, depth, held, holdMost, streamPerSecond, holders, roundTripMs, isInForce } = strict;
  const awaited = strict.waitsFor.length > 0 ? `: ${strict.waitsFor.join(', ')} hold more than they may` : '';
  const who = holders.map(({ nodeId, hold }) => `${nodeId} up to ${figure(hold)}`).join(', ');
  const flows = streamPerSecond > 0 ? `, ${figure(streamPerSecond)}/s flow to it` : '';
  const trip = roundTripMs > 0 ? `; a round trip takes ${figure(Math.ceil(roundTripMs))} ms` : '';
  return [
    ['strict', because === '' ? 'nothing above one bucket is admitted, at any moment' : `admits nothing: ${because}`],
    ['bucket', `${figure(pool)} of ${figure(depth)} messages wait in the log${trip}`],
    ['holders', who === '' ? 'nobody' : who],
    [`node ${node}`, `holds ${figure(held)} messages, at most ${figure(holdMost)}${flows}`],
    ...(isInForce ? [] : [['quota', `the newest is not in force yet${awaited}`] as const]),
  ];
}

/** Writes what the shadow would have done, with this node's counts. */
function shadowSteps(shadow: ShadowDirectionStatus, refusedMessages: number): Step[] {
  const { rates } = inUnitsOf(shadow.quotaAsWritten);
  const { admittedMessages, wouldRefuse, wouldGrant } = shadow;
  const told = ({ requests, messages, bytes }: ShadowDifference) =>
    `${figure(requests)} times, ${figure(messages)} messages, ${figure(bytes)} bytes`;
  return [
    ['shadow', `quota ${rates(shadow.quota)}; nothing is refused for it`],
    ['shadow usage', `${rates(shadow.usage)} of ${rates(shadow.demand)} asked for, in all nodes`],
    [
      'shadow here',
      `share ${rates(shadow.share)}; admitted ${figure(admittedMessages)} messages, refused ${figure(shadow.refusedMessages)} (in force ${figure(refusedMessages)})`,
    ],
    ['would refuse', told(wouldRefuse)],
    ['would grant', told(wouldGrant)],
    ...shadow.refusedBecause.map((refused): Step => ['because', becauseText(refused)]),
  ];
}

function tokensStep({ tokens }: DirectionExplanation['local']): Step {
  return ['tokens', `${figure(tokens.messages)} messages, ${figure(tokens.bytes)} bytes`];
}

/** Writes the way from cluster's bucket to own part, per limited dimension. */
function bucketSteps(buckets: NonNullable<DirectionExplanation['clusterBucket']>, rate: RateText): Step[] {
  return (['messages', 'bytes'] as const).flatMap((unit): Step[] => {
    const bucket = buckets[unit];
    if (bucket === null) return [];
    const { tokens, depth, setPoint, correctionPerSecond, expectedPerSecond, ownExpectedPerSecond, unread } = bucket;
    const corrected = `${correctionPerSecond < 0 ? '' : '+'}${rate(correctionPerSecond, unit)}`;
    const own = bucket.throttled ? 'throttled' : 'met';
    return [
      ["cluster's bucket", `${figure(tokens)} of ${figure(depth)} ${unit}${tokens < 0 ? ': a debt' : ''}`],
      ['set point', `${figure(setPoint)} ${unit}; correction in force ${corrected}`],
      bucket.inPieces
        ? ['expected', `nothing: in pieces, each admission of ${unit} is published at once`]
        : ['expected', `${rate(expectedPerSecond, unit)} of all, ${rate(ownExpectedPerSecond, unit)} here; ${own}`],
      ['unread', `${figure(unread)} ${unit} taken here beyond what was expected, and not in the log yet`],
      ...chargedSteps(bucket, unit),
      [
        'may take',
        `${figure(Math.max(0, bucket.takeable))} ${unit} now${bucket.passesInMs === 0 ? '' : `: ${whyNotYet(bucket)}`}`,
      ],
    ];
  });
}

/** Lists nodes that took from the bucket. */
function chargedSteps({ charged }: ClusterBucketStatus, unit: string): Step[] {
  if (charged.length === 0) return [];
  const each = charged.slice(0, CHARGED_SHOWN).map(({ nodeId, units }) => `${nodeId} ${figure(units)}`);
  const others = charged.length > CHARGED_SHOWN ? `, and ${charged.length - CHARGED_SHOWN} more` : '';
  return [['charged', `${unit} beyond what was expected: ${each.join(', ')}${others}`]];
}

const CHARGED_SHOWN = 5;

function whyNotYet({ tokens, setPoint, throttled, inPieces, passesInMs }: ClusterBucketStatus): string {
  const when = `a piece passes in ${figure(passesInMs / 1000)} s if nobody else takes it`;
  if (tokens < 0) return `the debt of the cluster's bucket is paid back; ${when}`;
  if (inPieces) return `whole pieces, the least recent user first; ${when}`;
  if (throttled && tokens < setPoint) return `throttled, so nothing below the set point; ${when}`;
  return `its part of the bucket is used; ${when}`;
}

/** Writes refusals: the count by the group's quota alone, the reasons of all levels. */
function timesRefused({ refusals, refusedBecause }: DirectionExplanation['local']): number {
  const told = refusedBecause.reduce((sum, { count }) => sum + count, 0);
  return Math.max(refusals, told);
}

function becauseText({ level, dimension, reason, count, lastAgoMs }: Refused): string {
  const where = [level, dimension].filter((part) => part !== null).join(', ');
  const times = `${figure(count)} times, last ${figure(lastAgoMs / 1000)} s ago`;
  return `${where === '' ? '' : `${where}: `}${WHY[reason]} (${times})`;
}

function costText({ average, expected, transactionsPerSecond, costPerSecond }: DirectionExplanation['cost']): string {
  if (transactionsPerSecond === 0) return `not reported yet: ${figure(expected)} units per message expected`;
  const reported = `${figure(costPerSecond)} units/s of ${figure(transactionsPerSecond)} messages/s`;
  return `${figure(average)} units per message (${reported})`;
}

function limitingSteps(
  { backends, deciding, leftOut, rate: limit, minimum, split }: LimitingExplanation,
  rate: RateText,
): Step[] {
  const steps: Step[] = backends.map(({ backend, zone, throttlingRatio, costPerSecond }) => {
    const health = throttlingRatio === null ? 'not near saturation' : `bears ${figure(throttlingRatio)} of its work`;
    return [
      'backend',
      `${backend}${zone === '' ? '' : ` in zone ${zone}`}: ${figure(costPerSecond)} units/s, ${health}`,
    ];
  });
  for (const { zone, backend, rate: one } of leftOut) {
    steps.push(['left out', `zone ${zone} (${backend}), which would allow ${rate(one, 'messages')}`]);
  }
  const decides = deciding === null ? '' : `: zone ${deciding.zone} (${deciding.backend}) decides, ${split}`;
  steps.push(['limiting', `${rate(limit, 'messages')}${decides}; never below ${rate(minimum, 'messages')}`]);
  return steps;
}

function rampSteps({ ramp, target }: DirectionExplanation, rate: RateText): Step[] {
  if (ramp === null) return [];
  const { mode, state, ceiling, from, to, overMs } = ramp;
  const whole = `${figure(from)} to ${figure(to)} in ${figure(overMs / 1000)} s, ${mode}`;
  const binds = ceiling < (target ?? Infinity) ? ': the ramp binds' : '';
  return [['ramp', `${rate(ceiling, 'messages')}${binds} (${whole}; ${RAMP_STATES[state]})`]];
}

const RAMP_STATES = { waiting: 'begins with the first use', climbing: 'on its way', top: 'at the top' } as const;

const BINDS: Readonly<Record<DirectionExplanation['binding'], string>> = {
  unlimited: 'nothing binds',
  messages: 'the message quota binds',
  cost: 'the cost quota binds',
  limiting: 'saturated backends bind',
  minimum: 'saturated backends bind; this much is never taken away',
  reserved: 'saturated backends bind; the reserved part is never taken away',
};

type Refused = DirectionExplanation['local']['refusedBecause'][number];

const WHY: Readonly<Record<Refused['reason'], string>> = {
  ...BINDS,
  bytes: 'the byte quota binds',
  isolated: 'the topic is away; the isolation policy binds',
  'own-limit': 'its own limit binds',
  'no-room': 'no room for another one',
  'not-ready': 'the node decided nothing',
};

/** Writes amounts as configured, not rounded to four digits. */
function quotaText({ quota, quotaAsWritten }: DirectionExplanation): string {
  const text = (name: RateName, work: string, perSecond: number | null) => {
    const rate = spelledIn(quotaAsWritten, name);
    if (perSecond === null || rate === null || rate.per === 'second') return rateText(perSecond, work, 'second');
    return `${rate.amount} ${work}/${SHORT_UNIT[rate.per]}`;
  };
  return [
    text('messages', 'messages', quota.messagesPerSecond),
    text('bytes', 'bytes', quota.bytesPerSecond),
    `cost ${text('cost', 'units', quota.costPerSecond)}`,
    `reserved ${text('reservedCost', 'units', quota.reservedCostPerSecond)}`,
  ].join(', ');
}

type RateText = (perSecond: number | null, work: 'messages' | 'bytes') => string;
type RatesText = (rates: RateStatus) => string;

/** Returns formatters in the quota's unit of time. */
function inUnitsOf(written: QuotaAsWritten) {
  const rate: RateText = (perSecond, work) => rateText(perSecond, work, unitIn(written, work));
  const rates: RatesText = ({ messagesPerSecond, bytesPerSecond }) => {
    return `${rate(messagesPerSecond, 'messages')}, ${rate(bytesPerSecond, 'bytes')}`;
  };
  return { rate, rates };
}

function rateText(perSecond: number | null, work: string, per: TimeUnit): string {
  if (perSecond === null) return `unlimited ${work}`;
  return `${figure(perSecond * SECONDS_OF[per])} ${work}/${SHORT_UNIT[per]}`;
}

/** Rounds to whole from 1,000 on, else to four digits; --json has all. */
function figure(value: number | null): string {
  if (value === null) return 'unlimited';
  // Rests of sums of floats; no quota is smaller.
  if (Math.abs(value) < 1e-9) return '0';
  return String(Math.abs(value) >= 1000 ? Math.round(value) : Number(value.toPrecision(4)));
}

const RATES = { usage: {}, demand: {}, inForce: {}, shareSum: {} };
const COST = { transactionsPerSecond: 0, costPerSecond: 0, average: 0, expected: 0 };
const LIMITING = { minimum: 0, leftOut: [{}], backends: [{}] } as const;
const LOCAL = {
  share: {},
  tokens: {},
  refusals: 0,
  refusedMessages: 0,
  refusedBecause: [{ count: 0 }],
} as const;
const EXPLAINED = { quota: {}, quotaAsWritten: {}, ...RATES, cost: COST, limiting: LIMITING, local: LOCAL };

export async function showExplanation(group: string, { json = false, ...options }: NodeCommandOptions): Promise<void> {
  const path = `/v1/groups/${segmentOf(group)}/explain`;
  const explanation = await get<GroupExplanation>(nodeAddress(options), path, {
    group: '',
    directions: { publish: EXPLAINED, dispatch: EXPLAINED },
  });
  print(json ? JSON.stringify(explanation) : explanationText(explanation));
}

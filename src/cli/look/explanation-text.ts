import type { DirectionExplanation, GroupExplanation, LimitingExplanation } from '../../api/group-explanation.js';
import type { RateStatus } from '../../api/node-status.js';

/** One line per step, in the order in which the decision is made; the ceiling that binds is named at the end. */
export function explanationText({ group, node, strategy, directions }: GroupExplanation): string {
  const parts = Object.entries(directions).map(([direction, explained]) => {
    const steps = stepsOf(explained, strategy, node);
    const width = Math.max(...steps.map(([name]) => name.length));
    return [`${group} ${direction}`, ...steps.map(([name, text]) => `  ${name.padEnd(width)}  ${text}`)].join('\n');
  });
  return parts.join('\n\n');
}

type Step = readonly [name: string, text: string];

function stepsOf(explained: DirectionExplanation, strategy: string, node: string): Step[] {
  const { quota, cost, limiting, local } = explained;
  return [
    [
      'quota',
      `${rates(quota)}, cost ${rate(quota.costPerSecond, 'units')}, reserved ${rate(quota.reservedCostPerSecond, 'units')}`,
    ],
    ['usage', rates(explained.usage)],
    ['demand', rates(explained.demand)],
    ['cost', costText(cost)],
    ['reserved', rate(explained.reserved, 'messages')],
    ['desired', rate(explained.desired, 'messages')],
    ...limitingSteps(limiting),
    ['target', `${rate(explained.target, 'messages')}: ${BINDS[explained.binding]}`],
    ...rampSteps(explained),
    [
      'in force',
      rates(explained.inForce) + (limiting.mode === 'report-only' ? ' (report-only: the target is not)' : ''),
    ],
    ['shares', `${rates(explained.shareSum)} in all nodes, by ${strategy}`],
    [`node ${node}`, `share ${rates(local.share)}${local.served ? '' : ' (not used here yet)'}, ${local.link}`],
    ['allowance', rates(local.allowance)],
    ['limit', rates(local.limit)],
    ['tokens', `${figure(local.tokens.messages)} messages, ${figure(local.tokens.bytes)} bytes`],
    [
      'refused',
      `${figure(timesRefused(local))} times, ${figure(local.refusedMessages)} messages, ${figure(local.refusedBytes)} bytes`,
    ],
    ...local.refusedBecause.map((refused): Step => ['because', becauseText(refused)]),
  ];
}

/** `refusals` counts only refusals by the group's quota; the reasons below it include those of other levels. */
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

function limitingSteps({ backends, deciding, leftOut, rate: limit, minimum, split }: LimitingExplanation): Step[] {
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

function rampSteps({ ramp, target }: DirectionExplanation): Step[] {
  if (ramp === null) return [];
  const { mode, state, ceiling, from, to, overMs } = ramp;
  const whole = `${figure(from)} to ${figure(to)} in ${figure(overMs / 1000)} s, ${mode}`;
  const binds = ceiling < (target ?? Number.POSITIVE_INFINITY) ? ': the ramp binds' : '';
  return [['ramp', `${rate(ceiling, 'messages')}${binds} (${whole}; ${RAMP_STATES[state]})`]];
}

const RAMP_STATES = {
  waiting: 'begins with the first use',
  climbing: 'on its way',
  top: 'at the top',
} as const;

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

function rates({ messagesPerSecond, bytesPerSecond }: RateStatus): string {
  return `${rate(messagesPerSecond, 'messages')}, ${rate(bytesPerSecond, 'bytes')}`;
}

function rate(value: number | null, unit: string): string {
  return value === null ? `unlimited ${unit}` : `${figure(value)} ${unit}/s`;
}

/** Whole from 1,000 on, below that to four digits: bytes read as they were configured. --json has every digit. */
function figure(value: number | null): string {
  if (value === null) return 'unlimited';
  return String(Math.abs(value) >= 1000 ? Math.round(value) : Number(value.toPrecision(4)));
}

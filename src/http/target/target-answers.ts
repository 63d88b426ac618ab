import { json, listOf, orNull, RAMP, RATES, record } from '../route/answer-schemas.js';

const text = { type: 'string' } as const;
const yes = { type: 'boolean' } as const;
const number = { type: 'number', minimum: 0 } as const;
const signed = { type: 'number' } as const;

export const ACCEPTED = json('Taken.', record({ accepted: { type: 'boolean', enum: [true] } }));

export const FACTORS = json(
  'Equal for all nodes of a cluster.',
  record({ readPageBytes: number, writePageBytes: number, writeFactor: number }),
);

const BUSY_GROUP = record({ group: text, direction: text, costPerSecond: number, busyness: number });

export const BACKENDS = json(
  'Backends by name.',
  record({
    backends: listOf(
      record({
        backend: text,
        zone: text,
        throttlingRatio: orNull(number),
        level: orNull(number),
        target: orNull(number),
        spring: orNull(number),
        silent: yes,
        heardAgoMs: number,
        costPerSecond: number,
        busiestGroups: listOf(BUSY_GROUP),
      }),
    ),
  }),
);

const ZONE = record({ zone: text, backend: text, rate: number });

const LIMITING = record({
  mode: text,
  split: text,
  rate: orNull(number),
  minimum: number,
  deciding: { ...ZONE, type: ['object', 'null'] },
  leftOut: listOf(ZONE),
  backends: listOf(record({ backend: text, zone: text, throttlingRatio: orNull(number), costPerSecond: number })),
});

const SIGNED_RATES = record({
  messagesPerSecond: { ...signed, type: ['number', 'null'] },
  bytesPerSecond: { ...signed, type: ['number', 'null'] },
});

const DIRECTION = record({
  quota: record({
    ...RATES.properties,
    costPerSecond: orNull(number),
    reservedCostPerSecond: number,
  }),
  usage: RATES,
  demand: RATES,
  cost: record({ transactionsPerSecond: number, costPerSecond: number, average: number, expected: number }),
  reserved: number,
  desired: orNull(number),
  limiting: LIMITING,
  target: orNull(number),
  binding: { type: 'string', enum: ['unlimited', 'messages', 'cost', 'limiting', 'minimum', 'reserved'] },
  busy: yes,
  ramp: RAMP,
  inForce: RATES,
  shareSum: RATES,
  local: record({
    served: yes,
    link: text,
    share: RATES,
    allowance: SIGNED_RATES,
    limit: RATES,
    tokens: record({ messages: orNull(number), bytes: orNull(number) }),
    refusals: number,
    refusedMessages: number,
    refusedBytes: number,
    refusedBecause: listOf(
      record({ level: orNull(text), dimension: orNull(text), reason: text, count: number, lastAgoMs: number }),
    ),
  }),
});

export const EXPLANATION = json(
  'The decision in force for a group, and what it follows from.',
  record({ group: text, node: text, strategy: text, directions: record({ publish: DIRECTION, dispatch: DIRECTION }) }),
);

import { choice, type Fields, nodeNames, quantity, type ReadFields, range, seconds, steps } from './fields.js';

const HOUR_MS = 3_600_000;
const RATE = { min: 0, max: 1e9 } as const;

const WHEN = {
  nodes: nodeNames('The nodes it arrives at.'),
  fromSeconds: seconds('Begins then.', { default: 0 }),
  untilSeconds: seconds('Ends then.', { defaultText: 'the end' }),
} satisfies Fields;

const PIECES = {
  messages: quantity('count', 'Messages of one piece of work.', { default: 1, min: 1, max: 1e6 }),
  bytes: range('Bytes of one piece of work; of a pair every size between is as likely.', {
    default: [0, 0],
    defaultText: '0',
  }),
} satisfies Fields;

const OPEN = {
  ...WHEN,
  ...PIECES,
  retries: quantity('count', 'The number of times that refused work is tried again.', {
    default: 0,
    min: 0,
    max: 1000,
  }),
  retryAfterMs: quantity('duration', 'Pause before each retry, 50 … 150 % of this.', {
    default: 100,
    min: 1,
    max: 600_000,
  }),
} satisfies Fields;

export const LOAD_KINDS = {
  constant: kind('One piece after the other at equal distances.', {
    ratePerSecond: rate('Rate at each node.'),
    ...OPEN,
  }),
  poisson: kind('Independent arrivals: the usual noise of many small clients.', {
    ratePerSecond: rate('Mean rate at each node.'),
    ...OPEN,
  }),
  bursts: kind('Many pieces at once, then nothing.', {
    size: quantity('count', 'Pieces that arrive at once.', { required: true, min: 1, max: 1e6 }),
    everySeconds: seconds('From burst to burst.', { required: true, min: 0.001 }),
    ...OPEN,
  }),
  batches: kind('Readers that fetch as much as there is, up to a batch, and hand back what they did not use.', {
    size: quantity('count', 'Messages of a whole batch.', { required: true, min: 1, max: 1e6 }),
    everySeconds: seconds('From fetch to fetch.', { required: true, min: 0.001 }),
    reader: choice(
      ['buffer', 'source'],
      'Numaflow counts messages of a buffer, and hands back too many; or whole reads of a source.',
      { default: 'buffer' },
    ),
    ...WHEN,
  }),
  onOff: kind('Poisson for a time, nothing for a time, and again.', {
    ratePerSecond: rate('Mean rate while it is on.'),
    onSeconds: seconds('The time that it is on.', { required: true, min: 0.001 }),
    offSeconds: seconds('The time that it is off.', { required: true, min: 0.001 }),
    ...OPEN,
  }),
  zipf: kind('Poisson, split over the nodes: the k-th has a part in proportion to 1 / k^exponent.', {
    ratePerSecond: rate('Mean rate of all its nodes together.'),
    exponent: quantity('factor', '0 is an even split, 1 is Zipf’s law.', { default: 1, min: 0, max: 5 }),
    ...OPEN,
  }),
  steps: kind('Poisson with a rate that changes at given seconds, as a trace would have it.', {
    steps: steps('Seconds and the rate from then on.'),
    ...OPEN,
  }),
  ramp: kind('Poisson with a rate that grows or falls evenly, then stays.', {
    fromPerSecond: rate('Rate at the beginning.'),
    toPerSecond: rate('Rate at the end.'),
    overSeconds: seconds('The time that the change takes.', { required: true, min: 0.1 }),
    ...OPEN,
  }),
  clients: kind('Clients with one piece of work at a time, which hold refused work back and try it again.', {
    count: quantity('count', 'Clients at each node.', { required: true, min: 1, max: 100_000 }),
    thinkMs: quantity('duration', 'Mean pause between an admitted piece and the next one.', {
      required: true,
      min: 0.1,
      max: HOUR_MS,
    }),
    retryMs: quantity('duration', 'Pause after a refusal, 80 … 120 % of this.', { default: 25, min: 1, max: HOUR_MS }),
    ...WHEN,
    ...PIECES,
  }),
};

export type Load = { readonly [Kind in LoadKind]: LoadOf<Kind> }[LoadKind];
type LoadKind = keyof typeof LOAD_KINDS;

export interface LoadOf<Kind extends LoadKind> {
  readonly kind: Kind;
  readonly nodes: readonly string[];
  readonly values: ReadFields<(typeof LOAD_KINDS)[Kind]['fields']>;
}

function kind<Own extends Fields>(says: string, fields: Own) {
  return { says, fields };
}

function rate(says: string) {
  return quantity('rate', says, { required: true, ...RATE });
}

import { GROUP_NAME } from '../../src/config/setting/setting.js';
import { choice, type Fields, name, namesOrAll, quantity, rateOrUnlimited, seconds, text } from '../scenario/fields.js';
import { EXPECTED } from './target-scenario.js';

/** Seconds until an unfulfilled phase is given up. */
export const GIVE_UP_SEC = 600;

export const TARGET_SCENARIO_FIELDS = {
  name: name('Its name in commands.', { required: true }, GROUP_NAME),
  says: text('The story in a sentence.', { required: true }),
} satisfies Fields;

/** Bounds of amounts, and of levels. */
const AMOUNT = { min: 0, max: 1e12 } as const;
const LEVEL = { min: 1e-9, max: 1e18 } as const;

const COUNT = quantity('count', 'So many alike.', { default: 1, min: 1, max: 200 });
const CAPACITY = quantity('rate', 'Cost units per second at which its queue stands at `target`.', {
  required: true,
  min: 1e-6,
  max: 1e12,
});

export const BACKEND_FIELDS = {
  name: name('With `count` above 1: name-1, name-2, …', { required: true }, GROUP_NAME),
  count: COUNT,
  zone: name('Backends that fail together.', { defaultText: 'a zone of its own' }, GROUP_NAME),
  capacityPerSecond: CAPACITY,
  target: quantity('level', 'Level of its queue at which it can bear just what it does.', { default: 800, ...LEVEL }),
  spring: quantity('level', 'From target − spring on it is near saturation.', { default: 200, ...LEVEL }),
  followsMs: quantity('duration', 'Time constant with which its queue follows the work.', {
    default: 10_000,
    min: 100,
    max: 600_000,
    defaultText: '10s',
  }),
} satisfies Fields;

export const TARGET_GROUP_FIELDS = {
  name: name('Its name.', { required: true }, GROUP_NAME),
  messagesPerSecond: quantity('rate', 'Of the whole cluster.', { ...AMOUNT, defaultText: 'unlimited' }),
  costPerSecond: quantity('rate', 'Cost units of the whole cluster.', { ...AMOUNT, defaultText: 'unlimited' }),
  reservedCostPerSecond: quantity(
    'rate',
    'Cost units that saturated backends never take away; at most costPerSecond.',
    {
      default: 0,
      ...AMOUNT,
    },
  ),
} satisfies Fields;

const NO_COST = { ...AMOUNT, defaultText: 'none' } as const;

export const CLIENT_FIELDS = {
  group: name('The group it works for.', { required: true }, GROUP_NAME),
  count: COUNT,
  wantedPerSecond: quantity('rate', 'Pieces of work that each would do; its share paces it, down to 1/s.', {
    required: true,
    min: 0.001,
    max: 10_000,
  }),
  units: quantity('factor', 'Cost of one piece, in own units, over all its backends.', NO_COST),
  readBytes: quantity('bytes', 'Cost of one piece: bytes read.', NO_COST),
  writtenBytes: quantity('bytes', 'Cost of one piece: bytes written.', NO_COST),
  backends: namesOrAll('Backends that it works on, each with the same part.', 'backend'),
} satisfies Fields;

export const PHASE_FIELDS = {
  forSeconds: seconds('Lasts so long.', { min: 1, max: 3600, defaultText: 'until what is expected has held 10 s' }),
  settleWithinSeconds: seconds('The expectations have to hold from then on, for 10 s, looked at every second.', {
    default: GIVE_UP_SEC,
    min: 1,
    max: GIVE_UP_SEC,
  }),
} satisfies Fields;

export const CAPACITY_FIELDS = {
  name: name('The backend.', { required: true }, GROUP_NAME),
  capacityPerSecond: CAPACITY,
} satisfies Fields;

export const EXPECTED_FIELDS = {
  what: choice(EXPECTED, 'The figure.', { required: true }),
  group: name('With target and perClient: the group of the figure.', { defaultText: 'none' }, GROUP_NAME),
  value: rateOrUnlimited('The expected value.'),
  within: quantity('ratio', 'Part of itself by which it may differ; 0 = not at all.', { default: 0.1, min: 0, max: 1 }),
} satisfies Fields;

/** Key → the fields of its entries. */
export const TARGET_LISTS: Readonly<Record<'backends' | 'groups' | 'clients', Fields>> = {
  backends: BACKEND_FIELDS,
  groups: TARGET_GROUP_FIELDS,
  clients: CLIENT_FIELDS,
};

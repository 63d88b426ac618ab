import { fieldsOf } from '../../src/base/input/schema-parts.js';
import { GROUP } from '../../src/config/schema/groups.js';
import { section } from '../../src/config/setting/section.js';
import { type Fields, listOfSeconds, name, nodeList, quantity, range, seconds, text } from './fields.js';
import { DELIVERY_FIELDS } from './happening-kinds.js';

/** Outermost keys, but for mappings and lists. */
export const SCENARIO_FIELDS = {
  name: name('Its name in commands.', { required: true }),
  says: text('The story in a sentence.', { required: true }),
  durationSeconds: seconds('Simulated time.', { required: true, min: 1, max: 3600 }),
  nodes: nodeList(
    'Their number, with names n1, n2, …, or their names. They start at 0 unless `start` comes first.',
    500,
  ),
  settleSeconds: seconds('After a step or a fault, so long is not steady.', { default: 5, max: 600 }),
  settlePoints: listOfSeconds('Times from which convergence is measured.', {
    defaultText: 'where the fair shares jump by more than 5 % of the quota, and where faults end',
  }),
} satisfies Fields;

export const QUOTA_FIELDS = {
  messagesPerSecond: quantity('rate', 'Of the whole cluster.', { min: 0, max: 1e12, defaultText: 'unlimited' }),
  bytesPerSecond: quantity('byte-rate', 'Of the whole cluster.', { min: 0, max: 1e12, defaultText: 'unlimited' }),
} satisfies Fields;

export const NETWORK_FIELDS = {
  appendMs: range('From a node to the topic or store.', { default: [0.5, 2], defaultText: '[0.5, 2]', max: 60_000 }),
  deliveryMs: range('From there, or from a node, to a node.', {
    default: [0.5, 3],
    defaultText: '[0.5, 3]',
    max: 60_000,
  }),
  partitions: quantity('count', 'Partitions of the topic.', { default: 1, min: 1, max: 16 }),
  ...DELIVERY_FIELDS,
} satisfies Fields;

/** Settings said elsewhere, or not at all. */
const NOT_HERE = ['quota', 'maxRequest', 'strategy', 'promise'];

/** Settings as below `defaults` in node.yaml; quota and strategy stand apart. */
export const SCENARIO_GROUP = section(
  Object.fromEntries(Object.entries(fieldsOf(GROUP)).filter(([key]) => !NOT_HERE.includes(key))),
);

export const BOUND_FIELDS = {
  atLeast: quantity('factor', 'Lower bound, included.', { min: -1e12, max: 1e12 }),
  atMost: quantity('factor', 'Upper bound, included.', { min: -1e12, max: 1e12 }),
  wished: quantity('factor', 'The stricter bound that is wished for and not reached. Nothing fails by it.', {
    min: -1e12,
    max: 1e12,
  }),
} satisfies Fields;

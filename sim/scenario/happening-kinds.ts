import { choice, type Fields, nodeNames, quantity, seconds } from './fields.js';

const AT: Fields = { atSeconds: seconds('The time of the event.', { required: true }) };
const NODES: Fields = { nodes: nodeNames('The nodes that it meets.') };
const LASTS: Fields = { forSeconds: seconds('The time that it lasts.', { required: true, min: 0.001 }) };
const ONE_BY_ONE: Fields = {
  everySeconds: seconds('With several nodes: from one to the next; 0 = all at once.', { default: 0 }),
};
const RETURNS: Fields = {
  forSeconds: seconds('Starts again after so long.', { min: 0.001, defaultText: 'never starts again' }),
};
const TROUBLE: Fields = { forSeconds: seconds('The time that it lasts.', { min: 0.001, defaultText: 'to the end' }) };

export const DELIVERY_FIELDS = {
  lostRatio: ratio('This part of what is sent is lost; whoever appends to a log is told.'),
  repeatedRatio: ratio('This part is delivered again.'),
  lateRatio: ratio('This part is late.'),
  lateMs: quantity('duration', 'By how much.', { default: 0, min: 0, max: 600_000 }),
} satisfies Fields;

/** Kind of happening → its keys besides `what`. */
export const HAPPENING_KINDS: Readonly<Record<string, { readonly says: string; readonly fields: Fields }>> = {
  start: { says: 'Nodes start that did not run from the beginning.', fields: { ...AT, ...NODES, ...ONE_BY_ONE } },
  crash: { says: 'kill -9.', fields: { ...AT, ...NODES, ...RETURNS, ...ONE_BY_ONE } },
  leave: { says: 'A clean stop.', fields: { ...AT, ...NODES, ...RETURNS, ...ONE_BY_ONE } },
  stall: {
    says: 'The process is frozen: a long garbage collection, a paused virtual machine.',
    fields: { ...AT, ...NODES, ...LASTS, ...ONE_BY_ONE },
  },
  cut: { says: 'Each of the nodes is cut off, both ways.', fields: { ...AT, ...NODES, ...LASTS, ...ONE_BY_ONE } },
  oneWay: {
    says: 'Each of the nodes is cut off one way.',
    fields: {
      ...AT,
      ...NODES,
      ...LASTS,
      way: choice(['reads', 'appends'], 'The way that is cut.', { required: true }),
    },
  },
  partition: {
    says: 'The nodes lose the others, and the topic or store stays with the others.',
    fields: { ...AT, ...NODES, ...LASTS },
  },
  outage: { says: 'The topic or store is away for all.', fields: { ...AT, ...LASTS } },
  faults: { says: 'Messages are lost, repeated or late.', fields: { ...AT, ...DELIVERY_FIELDS, ...TROUBLE } },
  quota: {
    says: 'The configured quota changes. A dimension that is not named stays.',
    fields: {
      ...AT,
      messagesPerSecond: quantity('rate', 'New quota.', { min: 0, max: 1e12, defaultText: 'as before' }),
      bytesPerSecond: quantity('byte-rate', 'New quota.', { min: 0, max: 1e12, defaultText: 'as before' }),
    },
  },
  rate: {
    says: 'The load at the nodes changes by a factor, for good. Clients stay as many.',
    fields: { ...AT, ...NODES, factor: factor('2 doubles it.') },
  },
  clockJump: {
    says: 'The clock of the log or store jumps.',
    fields: { ...AT, bySeconds: clock('Forwards; negative = backwards.', true) },
  },
  clockSkew: {
    says: 'The nodes’ own clocks are wrong; a monotonic clock is so from its next start on.',
    fields: {
      ...AT,
      ...NODES,
      bySeconds: clock('Ahead; negative = behind.', false),
      driftRatio: quantity('factor', 'Gains this part: 0.01 is 1 % too fast.', { default: 0, min: -0.1, max: 0.1 }),
    },
  },
  lie: {
    says: 'The nodes report a multiple of their true usage and demand.',
    fields: { ...AT, ...NODES, factor: factor('10 asks for ten times as much, 0 for nothing.'), ...TROUBLE },
  },
};

function ratio(says: string) {
  return quantity('ratio', says, { default: 0, min: 0, max: 1 });
}

function factor(says: string) {
  return quantity('factor', says, { required: true, min: 0, max: 1000 });
}

function clock(says: string, required: boolean) {
  const day = { min: -86_400, max: 86_400 };
  return required ? quantity('factor', says, { required, ...day }) : quantity('factor', says, { default: 0, ...day });
}

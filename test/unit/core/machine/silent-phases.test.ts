import { expect, test } from 'vitest';
import { OneNode } from './one-node.js';

/** Each leads a node into a phase in which it is nobody's member, or not any more. */
const INTO = {
  'catching-up': () => new OneNode(),
  fenced: () => {
    const node = OneNode.ready();
    node.read(node.by('own', 'node', { life: 9 }));
    return node;
  },
  stopping: () => {
    const node = OneNode.ready();
    node.step({ kind: 'stopping' });
    return node;
  },
  'stopping before it has joined': () => {
    const node = new OneNode();
    node.step({ kind: 'stopping' });
    return node;
  },
};

const OF_OWN_ID = ['node', 'farewell'] as const;

test.each(Object.entries(INTO).flatMap(([name, lead]) => OF_OWN_ID.map((kind) => ({ name, lead, kind }))))(
  '$name: the end of the log and a $kind of a newer life of its id write nothing',
  ({ lead, kind }) => {
    const node = lead();
    const { phase } = node.coordinator;
    node.lose();
    node.read(node.by('own', kind, { life: 12 }));
    if (phase !== 'catching-up') node.step({ kind: 'caught-up' });
    expect([node.lose(), node.coordinator.phase]).toEqual([[], phase]);
  },
);

test.each(Object.entries(INTO))('%s: rounds write nothing, serve nothing and confirm nothing', (name, lead) => {
  const node = lead();
  const { phase } = node.coordinator;
  expect(name.startsWith(phase)).toBe(true);
  node.lose();
  node.run(20_000, { echo: false, each: () => expect(node.tryAcquire(0, 1)).toBe(false) });
  expect([node.sent, [...node.coordinator.lanes.keys()], node.coordinator.phase]).toEqual([[], [], phase]);
});

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
};

test.each(Object.entries(INTO))('%s: rounds write nothing, serve nothing and confirm nothing', (phase, lead) => {
  const node = lead();
  expect(node.coordinator.phase).toBe(phase);
  node.lose();
  node.run(20_000, { echo: false, each: () => expect(node.tryAcquire(0, 1)).toBe(false) });
  expect([node.sent, [...node.coordinator.lanes.keys()], node.coordinator.phase]).toEqual([[], [], phase]);
});

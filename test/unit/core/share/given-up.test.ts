import { expect, test } from 'vitest';
import { BYTES, MESSAGES, slotOf } from '../../../../src/core/base/vocabulary.js';
import { STRATEGY_NAMES } from '../../../../src/core/convergence/strategies.js';
import { GATED, SETTINGS } from '../../../simulation/settings.js';
import { OneNode } from '../machine/one-node.js';

/** Others beat in a log whose clock runs ahead: the log gives this node up before it has missed its own echo. */
function giveUp(node: OneNode): void {
  for (let second = 0; second <= SETTINGS.stalenessMs; second += 1000) {
    node.logClockMs += 1000;
    node.read(node.by('b', 'node'));
  }
}

test.each(STRATEGY_NAMES)('%s: whom the log has given up has no share, no limit and no allowance', (strategy) => {
  const quota = { ...GATED.quota, publish: [1000, Infinity] as const };
  const node = OneNode.ready({ groups: [{ ...GATED, strategy, quota }] });
  node.run(1000, { each: () => void node.tryAcquire(0, 1) });
  const { shares, membership, nodeKey, link } = node.coordinator;
  const held = () => [MESSAGES, BYTES].map((each) => shares.applied[slotOf(0, each)]);
  expect(held()).toEqual([1000, Infinity]);
  giveUp(node);
  expect([membership.indexOf(nodeKey), link.of(0)]).toEqual([-1, 'linked']);
  for (const dimension of [MESSAGES, BYTES]) {
    const slot = slotOf(0, dimension);
    expect([shares.computed[slot], shares.applied[slot]]).toEqual([0, 0]);
  }
  // The cluster's target is known to it all the same.
  expect(shares.targetOf(0)).toEqual([1000, Infinity]);
});

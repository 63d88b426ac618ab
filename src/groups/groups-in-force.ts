import type { GroupConfig } from '../config/resolved/resolved-config.js';
import { DIRECTION_COUNT, lanesOf } from '../core/base/vocabulary.js';
import { QuotameshError } from '../errors/quotamesh-error.js';
import type { QuotaNode } from '../node/quota-node.js';

/** A group is like this from now on, without dropping a token or a debt; it may be new. */
export function defineGroup(node: QuotaNode, config: GroupConfig): void {
  const { groups, limiter, gate, coordinator } = node;
  const group = groups.define(config);
  const lanes = groups.size * DIRECTION_COUNT;
  // Twice as many at once: 10,000 groups one by one would copy the columns 10,000 times.
  if (limiter.laneCount < lanes) limiter.grow(Math.max(lanes, 2 * limiter.laneCount));
  gate.groupChanged(group);
  if (coordinator === null) return;
  node.step({ kind: 'group-changed', group, settings: config });
  // What nothing limits any more is not told to the others either.
  if (lanesOf(group).every((lane) => gate.isFree(lane))) {
    node.step({ kind: 'group-removed', group });
    gate.groupChanged(group);
  }
}

/** There is no such group any more: its name is unknown, and whoever waits for it is told. */
export function removeGroup(node: QuotaNode, name: string): void {
  const group = node.groups.remove(name);
  if (group === null) return;
  const facts = { group: name, near: '' };
  for (const lane of lanesOf(group)) {
    node.gate.waiting.rejectAll(lane, () => new QuotameshError('GROUP_UNKNOWN', facts));
  }
  if (node.coordinator !== null) node.step({ kind: 'group-removed', group });
}

import { resolveConfig } from '../../../src/config/read/resolve-config.js';
import { DIRECTION_COUNT, laneOf } from '../../../src/core/base/vocabulary.js';
import { Attachments } from '../../../src/core/beside/attachments/attachments.js';
import { Limiter } from '../../../src/core/limiter/limiter.js';
import { Gate } from '../../../src/node/admission/gate.js';
import { GroupTable } from '../../../src/node/groups/group-table.js';

/**
 * Gates in virtual time, whose groups hold their whole quota: no topic moves shares, so that whatever differs between
 * two of them is admission's doing.
 */
export function gateOf(orders: Readonly<Record<string, unknown>>, { limits = {}, clock, further }: Others = {}) {
  const node = { cluster: 'c', node: 'a', topic: 'memory', limits };
  const groupsOfNode = { orders, other: { quota: quotaOf(7), ...further } };
  const config = resolveConfig({ ...node, groups: groupsOfNode }, { source: '(test)' });
  const groups = new GroupTable(config.groups, (name) => name);
  const limiter = new Limiter(groups.size * DIRECTION_COUNT);
  const time = { nowMs: 1_000_000 };
  const loop = { coordinator: null, isReady: true, serve: () => undefined, unpublishedCharged: () => undefined };
  const attachments = new Attachments(config.attachments, (group) => groups.numbers.has(group));
  const gate = new Gate({
    limiter,
    clock: clock ?? (() => time.nowMs),
    groups,
    keys: null,
    attachments,
    limits: config.limits,
    defaultGroup: null,
    loop,
    whyNotReady: () => '',
    chargeCosts: () => undefined,
  });
  groups.list.forEach(({ quota, enabled }, group) => {
    if (!enabled) return;
    for (const [direction, rates] of [quota.publish, quota.dispatch].entries()) {
      const lane = laneOf(group, direction);
      limiter.validUntilMs.set(lane, Infinity);
      for (const [dimension, rate] of rates.entries())
        limiter.setLimit(lane, dimension, rate, rate / 10, clock?.() ?? time.nowMs);
      limiter.buckets.fill(lane, clock?.() ?? time.nowMs);
    }
  });
  return { gate, groups, limiter, time, loop };
}
export type Gated = ReturnType<typeof gateOf>;

export function quotaOf(messagesPerSecond: number, bytesPerSecond = 5000) {
  return { publish: { messagesPerSecond, bytesPerSecond } };
}

interface Others {
  readonly limits?: Readonly<Record<string, unknown>>;
  /** Absent = the scene's own, which a test moves. */
  readonly clock?: () => number;
  /** Settings of the group `other`, beside its quota of 7 messages per second. */
  readonly further?: Readonly<Record<string, unknown>>;
}

/** Work of a scope belongs to both groups, first to `orders`. */
export function attach({ gate }: Gated): void {
  gate.scopes.lanesOf = () => [laneOf(0, 0), laneOf(1, 0)];
}

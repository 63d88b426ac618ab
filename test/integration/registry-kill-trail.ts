import { expect } from 'vitest';
import type { AuditRecord } from '../../src/core/beside/registry/registry-record.js';
import type { WholeNode } from '../whole-node.js';

/** What a writer that was killed has done to one group. */
export interface Life {
  readonly group: string;
  readonly writer: string;
  /** Changes that were answered; the one behind them was under way. */
  readonly answered: number;
  /** Whether the one under way is in force. */
  readonly isWhole: boolean;
}

/** Trails are bounded: those of the nodes here hold every life since the newcomer before. */
export const AUDITED_CHANGES = 20_000;
const MORE_THAN_A_LIFE = 10_000;

/**
 * The trail has every answered change once, in order, with what was before; and the one under way only where it is in
 * force. What is in force and was not answered is put into the trail by others, up to 20 s later.
 *
 * @returns whether every change in force is in the trail
 */
export function checkTrail(
  node: WholeNode,
  { group, writer, answered, isWhole }: Life,
  definitionOf: (change: number) => object | null,
): boolean {
  const changes = node.registry?.changesAfter(0, MORE_THAN_A_LIFE, group) ?? [];
  const inForce = answered + (isWhole ? 1 : 0);
  const what = `${group} in the trail of ${node.config.nodeId}: ${answered} answered, ${inForce} in force`;
  expect([answered, inForce], what).toContain(changes.length);
  const expected = changes.map((_, at) => [writer, 'writer', definitionOf(at), definitionOf(at + 1)]);
  expect(changes.map(told), what).toEqual(expected);
  const isComplete = changes.length === inForce;
  if (isComplete && isWhole) expect(changes.at(-1)?.revision, what).toBe(node.registry?.stateOf(group).revision);
  return isComplete;
}

/** Until others have put into the trail what the dead had no time for. */
export async function untilTrailsAreWhole(check: () => boolean, timeoutMs: number): Promise<void> {
  await expect.poll(check, { timeout: timeoutMs, interval: 500 }).toBe(true);
}

function told({ author, by, before, after }: AuditRecord) {
  return [author, by?.name, before, after];
}

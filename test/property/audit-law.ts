import { expect } from 'vitest';
import { isExpected, NEVER } from '../../src/core/registry/group-history.js';
import type { AuditRecord } from '../../src/core/registry/registry-record.js';
import type { RegistryCluster } from './registry-cluster.js';

/**
 * An accepted change has exactly one record in the trail, with what was before and after it and who wanted it; all nodes,
 * and one that has read only what compaction left, tell the same trail. To be asked when everything is at rest and compacted.
 */
export function expectTrail(cluster: RegistryCluster): void {
  const expected = acceptedChanges(cluster).slice(-cluster.auditedChanges);
  for (const node of cluster.nodes.values()) expect(node.trail).toEqual(expected);
  const left = cluster.log.flatMap(({ record }) => (record?.kind === 'audit' ? [record] : []));
  expect(left.sort((one, other) => one.revision - other.revision)).toEqual(expected);
}

/** From all proposals that ever arrived, and nothing else. */
function acceptedChanges({ history }: RegistryCluster): AuditRecord[] {
  const groups = new Map<string, typeof NEVER>();
  const changes: AuditRecord[] = [];
  for (const { offset, record } of history) {
    if (record?.kind !== 'proposal') continue;
    const { author, group, expected, definition, by = null } = record;
    const state = groups.get(group) ?? NEVER;
    if (!isExpected(state, expected)) continue;
    const revision = offset + 1;
    changes.push({ kind: 'audit', author, group, revision, before: state.definition, after: definition, by });
    groups.set(group, { revision, definition });
  }
  return changes;
}

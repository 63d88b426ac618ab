import { expect } from 'vitest';
import { type GroupState, isExpected, NEVER } from '../../src/core/beside/registry/group-history.js';
import { type AuditRecord, attachmentName, type BatchEntry } from '../../src/core/beside/registry/registry-record.js';
import type { RegistryCluster } from './registry-cluster.js';

/**
 * An accepted change has exactly one record in the trail, with what was before and after it and who wanted it, and so has
 * whatever was detached with it; all nodes, and one that has read only what compaction left, tell the same trail. To be
 * asked when everything is at rest and compacted.
 */
export function expectTrail(cluster: RegistryCluster): void {
  const expected = folded(cluster).changes.slice(-cluster.auditedChanges);
  for (const node of cluster.nodes.values()) expect(node.trail).toEqual(expected);
  const left = cluster.log.flatMap(({ record }) => (record?.kind === 'audit' ? [record] : []));
  expect(left.sort(byRevision)).toEqual(expected);
}

/** All that there is by now, as `SimulatedRegistry.view` shows it. */
export function expectedView(cluster: RegistryCluster): string {
  const there = [...folded(cluster).entries].filter(([, { definition }]) => definition !== null);
  return JSON.stringify(there.sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** From all proposals and batches that ever arrived, and nothing else. */
function folded({ history }: RegistryCluster) {
  const entries = new Map<string, GroupState>();
  const changes: AuditRecord[] = [];
  const parts = new Map<string, readonly BatchEntry[]>();
  let shift = -Infinity;
  for (const { offset, record } of history) {
    if (record?.kind === 'epoch') shift = Math.max(shift, record.base - offset - 1);
    if (record?.kind === 'batch-part') parts.set(`${record.id} ${record.part}`, record.entries);
    if (record?.kind === 'batch') {
      const cut = Array.from({ length: record.parts }, (_, part) => parts.get(`${record.id} ${part}`));
      const batched = [...cut.flatMap((part) => part ?? []), ...record.entries];
      const fits = batched.every(({ group, expected }) => isExpected(entries.get(group) ?? NEVER, expected));
      if (!fits || cut.includes(undefined)) continue;
      const revision = offset + shift + 1;
      const made = batched.map(({ group, definition: after }): AuditRecord => {
        const before = entries.get(group)?.definition ?? null;
        return { kind: 'audit', author: record.author, group, revision, before, after, by: record.by, inBatch: true };
      });
      changes.push(...made.sort(byRevision));
      for (const { group, definition } of batched) entries.set(group, { revision, definition });
    }
    if (record?.kind !== 'proposal') continue;
    const { author, group, expected, definition, detaching, by = null } = record;
    if (!isExpected(entries.get(group) ?? NEVER, expected)) continue;
    const revision = offset + shift + 1;
    const all = detaching ? [...entries.keys()].filter((name) => leadsTo(group, name, entries)) : [];
    const made = [group, ...all].map((name): AuditRecord => {
      const before = entries.get(name)?.definition ?? null;
      const because = name === group ? {} : { withGroup: group };
      return { kind: 'audit', author, group: name, revision, before, after: definition, by, ...because };
    });
    changes.push(...made.sort(byRevision));
    for (const name of [group, ...all]) entries.set(name, { revision, definition });
  }
  return { entries, changes };
}

function leadsTo(group: string, name: string, entries: ReadonlyMap<string, GroupState>, steps = 0): boolean {
  const definition = name.startsWith('/') ? entries.get(name)?.definition : null;
  if (typeof definition?.sameAs !== 'string') return definition?.group === group;
  return steps < entries.size && leadsTo(group, attachmentName(definition.sameAs), entries, steps + 1);
}

function byRevision(one: AuditRecord, other: AuditRecord): number {
  return one.revision - other.revision || (one.group < other.group ? -1 : 1);
}

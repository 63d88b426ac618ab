import { isMapping, type Mapping } from '../../../base/input/mapping.js';
import { segmentOf } from '../../../config/setting/path-segment.js';
import type { AttachedTo } from '../../../node/groups/changes/attaching.js';
import { isSameValue } from '../../../node/groups/same-value.js';
import type { NodeAddress } from '../../node-client/node-address.js';
import { allPages, change } from '../../node-client/node-requests.js';
import { diffOf } from './definition-diff.js';

export interface PlannedAttachment {
  readonly scope: string;
  readonly name: string;
  readonly isNew: boolean;
  readonly expected: string;
  readonly before: Mapping | null;
  readonly after: Mapping;
  readonly lines: readonly string[];
}

/** Lists differences from `scopes`, each scope before those that are the same as it. */
export async function planAttachments(node: NodeAddress, scopes: Mapping): Promise<PlannedAttachment[]> {
  if (Object.keys(scopes).length === 0) return [];
  const there = new Map((await allPages<AttachedTo>(node, 'attachments')).map((each) => [each.scope, each]));
  const planned = Object.entries(scopes).flatMap(([scope, written]): PlannedAttachment[] => {
    const found = there.get(scope);
    // YAML may name the group alone.
    const after = isMapping(written) ? written : { group: written };
    if (found?.origin === 'run-time' && isSameValue(found.attachment, after)) return [];
    const before = found === undefined ? null : found.attachment;
    const expected = found === undefined ? 'none' : String(found.revision);
    const name = `attachment of ${scope}`;
    return [{ scope, name, isNew: found === undefined, expected, before, after, lines: diffOf(before, after) }];
  });
  return inOrder(planned);
}

export async function attachAll(node: NodeAddress, planned: readonly PlannedAttachment[]): Promise<number> {
  for (const { scope, after: body, expected } of planned) {
    const path = `/v1/attachments/${scope.split('/').map(segmentOf).join('/')}`;
    await change(node, { method: 'PUT', path, body, expected });
  }
  return planned.length;
}

/** Orders scopes; a circle stands last, for the node to refuse. */
function inOrder(planned: readonly PlannedAttachment[]): PlannedAttachment[] {
  const waiting = new Set(planned.map(({ scope }) => scope));
  const ordered: PlannedAttachment[] = [];
  for (let left = planned; left.length > 0; ) {
    const free = left.filter(({ after }) => !waiting.has(String(after.sameAs)));
    const next = free.length > 0 ? free : left;
    for (const each of next) waiting.delete(each.scope);
    ordered.push(...next);
    left = left.filter(({ scope }) => waiting.has(scope));
  }
  return ordered;
}

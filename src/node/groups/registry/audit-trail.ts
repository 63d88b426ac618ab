import type { Telemetry } from '../../../base/ports/telemetry.js';
import type { BatchDecision } from '../../../core/beside/registry/registry-protocol.js';
import { type AuditRecord, entryOf } from '../../../core/beside/registry/registry-record.js';
import type { AuditedChange } from '../../api/change-answers.js';

export function auditedChange(record: AuditRecord): AuditedChange {
  const { revision, author, group, before, after, by } = record;
  const what = after === null ? 'deleted' : before === null ? 'made' : 'changed';
  return {
    revision,
    time: by === null ? null : timeOf(by.atMs),
    node: author,
    who: by === null ? null : { name: by.name, how: by.how, requestId: by.requestId },
    what,
    ...entryOf(group),
    before,
    after,
    withGroup: record.withGroup ?? null,
  };
}

/** Logs a change at the node that made it. */
export function logChange(telemetry: Telemetry, record: AuditRecord): void {
  const { time: _time, node: _node, ...change } = auditedChange(record);
  telemetry.log('info', 'change accepted', { audit: true, outcome: 'accepted', ...change });
}

/** Logs a batch in one line; its groups stand in the trail. */
export function logBatch(
  telemetry: Telemetry,
  { revision, changes }: Pick<BatchDecision, 'revision' | 'changes'>,
): void {
  const [first] = changes;
  if (first === undefined) return;
  const { who, kind } = auditedChange(first);
  const names = changes.slice(0, NAMES_MAX).map(({ group }) => group);
  const more = changes.length > NAMES_MAX ? ` and ${changes.length - NAMES_MAX} more` : '';
  const facts = { revision, who, what: 'changed', kind, count: changes.length, groups: `${names.join(', ')}${more}` };
  telemetry.log('info', 'batch of changes accepted', { audit: true, outcome: 'accepted', ...facts });
}

const NAMES_MAX = 20;

/** Formats a time; null = no Date can hold it. */
function timeOf(atMs: number): string | null {
  const date = new Date(atMs);
  return Number.isNaN(date.getTime()) ? null : date.toISOString();
}

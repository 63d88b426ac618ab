import { setTimeout as sleep } from 'node:timers/promises';
import { printable } from '../../../base/errors/printable.js';
import { isMapping, type Mapping } from '../../../base/input/mapping.js';
import { readRevision } from '../../../base/input/revision.js';
import type { AuditedChange } from '../../../node/api/change-answers.js';
import { nodeAddress, pagesOf } from '../../node-client/node-requests.js';
import { print, usage } from '../../terminal/print.js';
import type { AuditOptions } from './audit-command.js';

/** `quotamesh audit`: prints the trail, and with --follow what comes. */
export async function showAudit({ group, scope, after, json, follow, ...options }: AuditOptions): Promise<void> {
  const node = nodeAddress(options);
  if (after !== undefined && readRevision(after) === null) throw usage(`--after must be a revision, got ${after}`);
  if (group !== undefined && scope !== undefined) throw usage('--group and --scope exclude each other');
  const filter = group === undefined ? { ...(scope === undefined ? {} : { scope }) } : { group };
  for (let seen = after ?? '0'; ; ) {
    const query = { ...filter, after: seen };
    for await (const page of pagesOf<AuditedChange>(node, {
      path: '/v1/audit',
      list: 'changes',
      sample: CHANGE,
      query,
    })) {
      for (const change of page) {
        print(json === true ? JSON.stringify(change) : lineOf(change));
        seen = String(change.revision);
      }
    }
    if (follow !== true) return;
    await sleep(FOLLOW_INTERVAL_MS);
  }
}

const CHANGE = { revision: 0, node: '', what: '', kind: '', name: '' };

const FOLLOW_INTERVAL_MS = 1000;

/** Writes `17 2026-11-22T08:00:00.000Z a ops (token) changed group orders: quota.publish.bytes 5 → 2`. */
export function lineOf(change: AuditedChange): string {
  const { revision, time, node, who, what, kind, name, before, after, withGroup } = change;
  const by = who === null ? '?' : `${who.name} (${who.how})`;
  const because = withGroup === null ? '' : ` with group ${withGroup}`;
  const head = `${revision} ${time ?? '?'} ${node} ${by} ${what} ${kind} ${name}${because}`;
  const changes = differences(before, after).map(({ path, was = '-', is = '-' }) => `${path} ${was} → ${is}`);
  return printable(changes.length === 0 || after === null ? head : `${head}: ${changes.join(', ')}`);
}

/** Lists settings that differ, by path, as JSON; undefined = absent. */
export function differences(before: Mapping | null, after: Mapping | null) {
  const [old, now] = [settingsOf(before ?? {}), settingsOf(after ?? {})];
  const all = [...new Set([...old.keys(), ...now.keys()])].map((path) => ({
    path,
    was: old.get(path),
    is: now.get(path),
  }));
  return all.filter(({ was, is }) => was !== is);
}

function settingsOf(definition: Mapping, above = ''): Map<string, string> {
  return new Map(
    Object.entries(definition).flatMap(([key, value]): (readonly [string, string])[] =>
      isMapping(value) ? [...settingsOf(value, `${above}${key}.`)] : [[above + key, JSON.stringify(value)]],
    ),
  );
}

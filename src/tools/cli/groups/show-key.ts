import { printable } from '../../../base/errors/printable.js';
import { segmentOf } from '../../../config/setting/path-segment.js';
import type { KeyReport, KeyStatus } from '../../../node/api/node-status.js';
import { get, nodeAddress } from '../../node-client/node-requests.js';
import { print } from '../../terminal/print.js';
import type { KeyOptions } from './key-command.js';

export async function showKey(name: string, { json = false, ...options }: KeyOptions): Promise<void> {
  const key = await get<KeyStatus>(nodeAddress(options), `/v1/keys/${segmentOf(name)}`, KEY);
  print(json ? JSON.stringify(key) : keyText(key));
}

const REPORTS = [{ nodeId: '', usage: {}, demand: {}, charged: {} }] as const;
const KEY = {
  key: '',
  template: '',
  quota: { publish: {}, dispatch: {} },
  reports: { publish: REPORTS, dispatch: REPORTS },
};

function keyText({ key, template, quota, used, leftUnpublished, group, reports }: KeyStatus): string {
  const lines = [`${key}  template ${template}${used ? '' : '  not used at this node'}`];
  for (const direction of ['publish', 'dispatch'] as const) {
    const limits = Object.entries(quota[direction])
      .filter(([name, amount]) => amount !== null && !(amount === 0 && name.startsWith('reserved')))
      .map(([name, amount]) => `${name} ${amount}`);
    if (limits.length === 0) continue;
    lines.push(`${direction}  quota ${limits.join(', ')}`);
    for (const unit of ['messages', 'bytes'] as const) {
      const left = leftUnpublished?.[direction][unit] ?? null;
      if (left !== null) lines.push(`  silent: this node may spend ${left} ${unit} unpublished`);
      const tokens = group?.directions[direction].clusterBucket?.[unit] ?? null;
      if (tokens !== null)
        lines.push(`  loud: the cluster's bucket holds ${Math.floor(tokens.tokens)} ${unit} of ${tokens.depth}`);
    }
    lines.push(...reports[direction].map(reportText));
  }
  const isLoudHere = Object.values(group?.directions ?? {}).some(({ local }) => local.served);
  if (leftUnpublished === null && !isLoudHere) lines.push('loud at other nodes: ask one of those for the bucket');
  if (isLoudHere) lines.push(`more: quotamesh explain ${key}`);
  return lines.map(printable).join('\n');
}

function reportText({ nodeId, self, usage, demand, charged, reportAgeMs }: KeyReport): string {
  const rates = (['messages', 'bytes'] as const).flatMap((unit) => {
    const [used, wanted] = [usage[`${unit}PerSecond`] ?? 0, demand[`${unit}PerSecond`] ?? 0];
    const beyond = charged[unit] ?? 0;
    if (used === 0 && wanted === 0 && beyond === 0) return [];
    const rest = reportAgeMs === null ? 'unpublished' : `${rounded(beyond)} charged beyond that`;
    return [`${rounded(used)} ${unit}/s used, ${rounded(wanted)} wanted, ${rest}`];
  });
  return `  node ${nodeId}${self ? ' *' : ''}: ${rates.join('; ') || 'nothing now'}`;
}

function rounded(amount: number): number {
  return Math.round(amount * 10) / 10;
}

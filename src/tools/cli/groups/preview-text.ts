import { SECONDS_OF, SHORT_UNIT } from '../../../config/setting/time-unit.js';
import { rateKey, unitIn } from '../../../config/setting/written-rate.js';
import type { RateStatus } from '../../../node/api/node-status.js';
import type { ChangePreview, DirectionPreview, GroupPreview } from '../../../node/groups/changes/preview-change.js';
import { textTable } from '../../terminal/text-table.js';

/** Writes every node's shares before and after a change that was not made. */
export function previewText({ group, before, after, definition }: ChangePreview): string {
  const title = definition === null ? `${group}: would be gone` : `${group}: nothing is changed, this would be`;
  const rows = (['publish', 'dispatch'] as const).flatMap((direction) => {
    return (['messages', 'bytes'] as const).flatMap((name) => {
      const sides = { before: before?.[direction], after: after?.[direction] };
      // The unit of time is that of the preview.
      const per = unitIn((sides.after ?? sides.before)?.quotaAsWritten, name);
      const title = `${direction} ${name === 'messages' ? 'msg' : 'B'}/${SHORT_UNIT[per]}`;
      return rowsOf(title, { ...sides, key: rateKey(name), seconds: SECONDS_OF[per] });
    });
  });
  const table = textTable(['', 'NODE', 'DEMAND', 'SHARE', 'THEN'], rows, ['DEMAND', 'SHARE', 'THEN']);
  return [title, ...(rows.length === 0 ? ['no quota, before and after'] : table)].join('\n');
}

interface Sides {
  readonly key: keyof RateStatus;
  /** Seconds that all figures are per. */
  readonly seconds: number;
  readonly before: GroupPreview['publish'] | undefined;
  readonly after: GroupPreview['publish'] | undefined;
}

function rowsOf(title: string, { key, seconds, before, after }: Sides): string[][] {
  const shown = (rate: number | null, target: number | null) => shownPer(seconds, rate, target);
  const targets = [before, after].map((side) => side?.target[key] ?? null);
  if (targets.every((target) => target === null)) return [];
  const nodes = (after ?? before)?.nodes ?? [];
  const share = (side: DirectionPreview | undefined, nodeId: string) => {
    if (side === undefined) return '–';
    return shown(side.nodes.find((node) => node.nodeId === nodeId)?.share[key] ?? null, side.target[key]);
  };
  const rows = nodes.map(({ nodeId, demand }, at) => {
    return [at === 0 ? title : '', nodeId, shown(demand[key], 0), share(before, nodeId), share(after, nodeId)];
  });
  const [first, then] = [before, after].map((side) => (side === undefined ? '–' : shown(side.target[key], 0)));
  return [...rows, ['', 'of', '', first ?? '', then ?? '']];
}

/** Shows a rate; without a target there is no limit. */
function shownPer(seconds: number, rate: number | null, target: number | null): string {
  if (rate === null || target === null) return 'unlimited';
  const amount = rate * seconds;
  return amount.toLocaleString('en-US', { maximumFractionDigits: amount < 100 ? 1 : 0 });
}

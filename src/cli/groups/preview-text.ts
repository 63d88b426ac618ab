import type { RateStatus } from '../../api/node-status.js';
import type { ChangePreview, DirectionPreview, GroupPreview } from '../../groups/changes/preview-change.js';
import { textTable } from '../../terminal/text-table.js';

/** The shares of every node, before and after a change that was not made. */
export function previewText({ group, before, after, definition }: ChangePreview): string {
  const title = definition === null ? `${group}: would be gone` : `${group}: nothing is changed, this would be`;
  const rows = (['publish', 'dispatch'] as const).flatMap((direction) => {
    return (['messagesPerSecond', 'bytesPerSecond'] as const).flatMap((key) => {
      return rowsOf(`${direction} ${key === 'messagesPerSecond' ? 'msg/s' : 'B/s'}`, {
        key,
        before: before?.[direction],
        after: after?.[direction],
      });
    });
  });
  const table = textTable(['', 'NODE', 'DEMAND', 'SHARE', 'THEN'], rows, ['DEMAND', 'SHARE', 'THEN']);
  return [title, ...(rows.length === 0 ? ['no quota, before and after'] : table)].join('\n');
}

interface Sides {
  readonly key: keyof RateStatus;
  readonly before: GroupPreview['publish'] | undefined;
  readonly after: GroupPreview['publish'] | undefined;
}

function rowsOf(title: string, { key, before, after }: Sides): string[][] {
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

/** Without a target there is no limit to show. */
function shown(rate: number | null, target: number | null): string {
  if (rate === null || target === null) return 'unlimited';
  return rate.toLocaleString('en-US', { maximumFractionDigits: rate < 100 ? 1 : 0 });
}

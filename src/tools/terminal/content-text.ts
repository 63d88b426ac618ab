import type { ResolvedConfig } from '../../config/resolved/resolved-config.js';

/** Counts what a configuration defines. *Worked:* `cluster demo, 2 groups, 1 pattern of keys`. */
export function contentText({ cluster, groups, keys }: Pick<ResolvedConfig, 'cluster' | 'groups' | 'keys'>): string {
  const patterns = keys.templates.length;
  const counts = [
    `${groups.length} ${groups.length === 1 ? 'group' : 'groups'}`,
    ...(patterns > 0 ? [`${patterns} ${patterns === 1 ? 'pattern' : 'patterns'} of keys`] : []),
  ];
  return `cluster ${cluster}, ${counts.join(', ')}`;
}

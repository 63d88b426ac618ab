import { isMapping } from '../../base/input/mapping.js';
import type { Findings } from '../setting/findings.js';
import { show } from '../setting/setting-text.js';

/** Without a topic nobody knows what others want: a strategy that would have to know is refused, not replaced. */
export function checkAlone(root: Readonly<Record<string, unknown>>, findings: Findings): void {
  const groups = isMapping(root.groups) ? Object.entries(root.groups) : [];
  const written: [(string | number)[], unknown][] = [
    [['defaults'], root.defaults],
    ...groups.map(([name, group]): [string[], unknown] => [['groups', name], group]),
  ];
  for (const [path, group] of written) {
    const strategy = isMapping(group) ? (group.strategy ?? null) : null;
    if (strategy === null || strategy === 'equal') continue;
    findings.add([...path, 'strategy'], {
      problem: `must be equal with topic kind none, got ${show(strategy)}: it needs the reports of other nodes`,
      allowed: 'equal',
      remedy: 'Remove it, or share a topic: embedded, kafka or redis.',
    });
  }
}

import { textTable } from '../../src/tools/terminal/text-table.js';
import type { FrontierPoint, Recommendation } from '../recommend/recommend.js';
import type { RecordedWork } from '../recommend/recorded-work.js';
import { lines, percent, rate, whole } from './replay-figures.js';
import type { GroupKind } from './replay-group.js';
import { keyTable } from './trace-tables.js';

export interface Recommended {
  readonly file: string;
  readonly group: string;
  readonly kind: GroupKind;
  readonly note: readonly string[];
  /** Column of keys with a quota each; null = one for all. */
  readonly per: string | null;
  readonly top: number;
  readonly of: 'messages' | 'bytes';
  readonly direction: 'publish' | 'dispatch';
  readonly wish: number;
  readonly work: RecordedWork;
  readonly nodes: number;
  readonly speed: number;
  readonly found: Recommendation;
}

/** Writes the recommendation with its frontier of quota and burst. */
export function recommendationText(told: Recommended): string {
  const { file, of, wish, work, nodes, speed, found, note, per, top } = told;
  const { frontier, best, strategy, strategies } = found;
  const lengthS = (((work.atMs[work.count - 1] ?? 0) - (work.atMs[0] ?? 0)) / 1000) * speed;
  const runs = strategies.map(({ run }) => run);
  // At another speed a second of the nodes holds more of the file, of which all other figures are.
  const worst = speed === 1 ? 'worst second' : `worst ${Number(speed.toPrecision(4))} s`;
  const head = ['strategy', 'refused', worst];
  const rows = strategies.map(({ strategy: name, refused, run: { verdict } }) => {
    return [name, percent(refused), `${(verdict.worstSecond ?? 0).toFixed(2)}×`];
  });
  const [each, busiest] =
    per === null
      ? ['', '']
      : [` for each ${per}`, `, ${rate(found.busiestPerSecond)} of the busiest of ${whole(work.keys.length)} ${per}`];
  return lines([
    `${file}: ${whole(work.count)} pieces of work in ${whole(lengthS)} s at ${nodes} nodes, ${rate(found.meanPerSecond)} ${of}/s on the mean${busiest}`,
    ...note,
    `Least quota${each} that refuses at most ${percent(wish)} of the ${of}, by burst:`,
    '',
    ...frontierTable(frontier, best, of),
    '',
    `Recommended${each}: ${rate(best.perSecond)} ${of}/s with a burst of ${whole(best.depth)}, ${strategy}. A second admits ${rate(best.mostPerSecond)} at most, the least of these.`,
    '',
    ...textTable(head, rows, head.slice(1)),
    ...keyTable(runs, { per, top }),
    '',
    ...nextSteps(told),
  ]);
}

/** Writes commands for an existing group or keys, or a configuration. */
function nextSteps({ group, kind, of, direction, per, found: { best, strategy } }: Recommended): string[] {
  const key = `${of}PerSecond`;
  const burst = of === 'messages' ? `burst=${best.depth}` : `burst.bytes=${best.depth}`;
  const set = `quota.${direction}.${key}=${best.perSecond} ${burst} strategy=${strategy}`;
  if (kind === 'none') {
    const depth = of === 'messages' ? best.depth : `{ bytes: ${best.depth} }`;
    const settings = `{ quota: { ${direction}: { ${key}: ${best.perSecond} } }, burst: ${depth}, strategy: ${strategy} }`;
    const where = per === null ? ['groups', 'NAME'] : ['keys', '"key:{id}"'];
    return ['In a configuration:', `${where[0]}:`, `  ${where[1]}: ${settings}`];
  }
  if (kind === 'group') {
    const command = `quotamesh group set ${quotedName(group)}`;
    return [
      `To watch it beside what is in force:  ${command} ${set.replaceAll(/(^| )/g, '$1shadow.')}`,
      `To enforce it:                        ${command} ${set}`,
    ];
  }
  const command = `quotamesh key ${kind === 'template' ? 'template set' : 'set'} ${quotedName(group)}`;
  return [
    `To watch it, refusing nothing:  ${command} ${set} mode=shadow`,
    `To enforce it:                  ${command} ${set} mode=enforce`,
  ];
}

/** Quotes a name for a shell. */
function quotedName(name: string): string {
  return /^[\w.:@/+~-]+$/.test(name) ? name : `'${name.replaceAll("'", "'\\''")}'`;
}

/** Writes the frontier with bars that show its bend. */
function frontierTable(frontier: readonly FrontierPoint[], best: FrontierPoint, of: string): string[] {
  const largest = Math.max(...frontier.map(({ perSecond }) => perSecond));
  const rows = frontier.map((point) => [
    point === best ? '>' : '',
    whole(point.depth),
    rate(point.perSecond),
    percent(point.refused),
    rate(point.mostPerSecond),
    '█'.repeat(Math.max(1, Math.round((BAR * point.perSecond) / largest))),
  ]);
  const head = ['', 'burst', `${of}/s`, 'refused', 'a second at most', 'quota'];
  return [...textTable(head, rows, head.slice(1, 5))];
}

const BAR = 40;

export function recommendationFacts({ file, group, kind, per, of, wish, work, nodes, found }: Recommended) {
  const { meanPerSecond, frontier, best, strategy, strategies } = found;
  return {
    file,
    // Without a configuration there is no group.
    group: kind === 'none' ? null : group,
    per,
    keys: work.keys.length,
    of,
    refuseBelow: wish,
    pieces: work.count,
    nodes,
    meanPerSecond,
    recommended: {
      perSecond: best.perSecond,
      burst: best.depth,
      strategy,
      refused: strategies.find((one) => one.strategy === strategy)?.refused,
    },
    frontier,
    strategies: strategies.map(({ strategy, refused, run }) => ({ strategy, refused, verdict: run.verdict })),
  };
}

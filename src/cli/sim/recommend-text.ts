import type { FrontierPoint, Recommendation } from '../../../sim/recommend/recommend.js';
import type { RecordedWork } from '../../../sim/recommend/recorded-work.js';
import { textTable } from '../../terminal/text-table.js';
import { lines, percent, rate, whole } from './replay-figures.js';

export interface Recommended {
  readonly file: string;
  readonly group: string;
  readonly of: 'messages' | 'bytes';
  readonly direction: 'publish' | 'dispatch';
  readonly wish: number;
  readonly work: RecordedWork;
  readonly nodes: number;
  readonly speed: number;
  readonly found: Recommendation;
}

/** What the work needs, with the frontier of quota and burst drawn. */
export function recommendationText(told: Recommended): string {
  const { file, group, of, direction, wish, work, nodes, speed, found } = told;
  const { frontier, best, strategy, strategies } = found;
  const lengthS = (((work.atMs[work.count - 1] ?? 0) - (work.atMs[0] ?? 0)) / 1000) * speed;
  const key = `quota.${direction}.${of}PerSecond`;
  const burst = of === 'messages' ? `burst=${best.depth}` : `burst.bytes=${best.depth}`;
  const set = `${key}=${best.perSecond} ${burst} strategy=${strategy}`;
  const shadow = set.replaceAll(/(^| )/g, '$1shadow.');
  return lines([
    `${file}: ${whole(work.count)} pieces of work in ${whole(lengthS)} s at ${nodes} nodes, ${rate(found.meanPerSecond)} ${of}/s on the mean`,
    `Least quota that refuses at most ${percent(wish)} of the ${of}, by burst:`,
    '',
    ...frontierTable(frontier, best, of),
    '',
    `Recommended: ${rate(best.perSecond)} ${of}/s with a burst of ${whole(best.depth)}, ${strategy}. A second admits ${rate(best.mostPerSecond)} at most, the least of these.`,
    '',
    ...textTable(
      ['strategy', 'refused', 'worst second'],
      strategies.map(({ strategy: name, refused, run }) => [
        name,
        percent(refused),
        `${(run.verdict.worstSecond ?? 0).toFixed(2)}×`,
      ]),
      ['refused', 'worst second'],
    ),
    '',
    `To watch it beside what is in force:  quotamesh group set ${group} ${shadow}`,
    `To enforce it:                        quotamesh group set ${group} ${set}`,
  ]);
}

/** The quota as a bar, so that the bend of the frontier is seen. */
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

/** The same for programs. */
export function recommendationFacts({ file, group, of, wish, work, nodes, found }: Recommended) {
  const { meanPerSecond, frontier, best, strategy, strategies } = found;
  return {
    file,
    group,
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

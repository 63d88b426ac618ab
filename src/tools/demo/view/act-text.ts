import type { Act } from '../story/acts.js';
import type { ActTallies } from '../story/story-traffic.js';
import { withCommas } from './view.js';

/** Heads an act: the event, the figure, its bound. */
export function actHeading(act: Act, number: number, acts: number): readonly string[] {
  const { counts, good } = act.figure;
  return ['', `Act ${number} of ${acts}: ${act.title}`, ...act.says, `Counted: ${counts}. Good: ${good}.`];
}

export function actEnding(act: Act, tallies: ActTallies): readonly string[] {
  const { ours, split, central } = tallies;
  const { of, isGood } = act.figure;
  const says = [
    isGood(ours, central) ? '✓ good' : `✗ not good${tallies.answerMs.p99 > BUSY_P99_MS ? BUSY : ''}`,
    act.staticBecause,
    'as exact as can be; each request waits for it, and all stop when it is away',
  ];
  const rows = [ours, split, central].map((tally, at) => {
    return `  ${SYSTEMS[at]?.padEnd(NAME_WIDTH)}  ${withCommas(of(tally)).padStart(6)} of ${withCommas(tally.asked)}  ${says[at]}`;
  });
  return rows;
}

export function storyEnding(told: readonly (readonly [Act, ActTallies])[], seconds: number): readonly string[] {
  const rows = told.map(([{ title, figure }, { ours, split, central }]) => {
    const parts = [ours, split, central].map((tally) => percentOf(figure.of(tally), figure.of(central)));
    return `  ${title.padEnd(TITLE_WIDTH)}${parts.map((part, at) => part.padStart(COLUMNS[at] ?? 0)).join('')}  ${figure.isGood(ours, central) ? '✓' : '✗'}`;
  });
  const head = `  ${''.padEnd(TITLE_WIDTH)}${SYSTEMS.map((name, at) => name.padStart(COLUMNS[at] ?? 0)).join('')}`;
  const median = Math.max(...told.map(([, { answerMs }]) => answerMs.median));
  return [
    '',
    `The whole story, ${Math.round(seconds)} s: the figure of each act, of what one central bucket let through.`,
    head,
    ...rows,
    `An answer of a node took ${median.toFixed(1)} ms over HTTP in the slowest act (median), and asked nobody else for it.`,
    'The other two were counted beside it, with the same requests at the same moments and clients that behave alike:',
    'in this process, so without the round trip that asking a central bucket takes.',
  ];
}

const SYSTEMS = ['this cluster', 'static split', 'one central bucket'];
const NAME_WIDTH = 18;
const TITLE_WIDTH = 20;
const COLUMNS = [14, 14, 20];

/** Milliseconds; loopback requests take one or two, shares move within some fifty. */
const BUSY_P99_MS = 50;
const BUSY = ': answers were slow, other work kept this machine busy';

function percentOf(value: number, whole: number): string {
  return whole === 0 ? '-' : `${Math.round((value / whole) * 100)} %`;
}

import type { AccuracyRow } from './accuracy-run.js';
import { figuresOf, type Loss } from './better-elsewhere.js';

/** Part refused or unused with which a better worst second is bought. */
const MORE_REFUSED = 0.005;
const LESS_USED = 0.005;

const CUT_OFF = 'Who is cut off goes on, and the others share all; `isolation.policy: closed` refuses there instead.';
const ONE_BURST =
  'Two bursts of 300 at once need a bucket of 600 (`burst: 600` uses 93 %); the default depth of 1,000/s is 100.';
const WINDOWS_MEET =
  'Whole batches come out of windows: at the start two of them meet within a second. It admits 20 % over the quota throughout.';
const NO_REPORTS =
  'A node that says it wants nothing is given what nobody wants; the other believes no reports at all.';
const WHOLE_TOKENS = 'The log gives whole tokens, each to another node; there every node has tokens of its own.';
const ONE_LIMIT = 'It has one limit for all nodes, which none reaches that wants little.';
const DEPTH =
  'Any span may hold the depth of the cluster’s bucket more (100 of 1,000/s, 30 of 100/s), as with one central bucket.';
const WAITING_HIDES =
  'All want more than the equal share it starts with. Clients that wait hide part of their demand (docs/decisions/0018).';

const SPECIAL: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'below-quota': {
    convergenceMs: 'There any limit that is large enough is right; ours have to find the demands first.',
  },
  bursts: { utilisation: ONE_BURST, steadyError: ONE_BURST, jain: ONE_BURST },
  'liar-0': { convergenceMs: NO_REPORTS, jain: NO_REPORTS },
  even: { oscillation: 'Its limits never move; ours follow the tokens of the cluster’s bucket.' },
  'one-token-quota': { oscillation: WHOLE_TOKENS },
  'one-way-link': { worstSecond: CUT_OFF, overAdmission: CUT_OFF, convergenceMs: CUT_OFF },
  'partition-3-2': { worstSecond: CUT_OFF, overAdmission: CUT_OFF, convergenceMs: CUT_OFF },
  'source-batches': { overshootTokens: WINDOWS_MEET, worstSecond: WINDOWS_MEET, utilisation: WINDOWS_MEET },
  'slow-clients': { worstSecond: WAITING_HIDES, overAdmission: WAITING_HIDES, convergenceMs: WAITING_HIDES },
};

/** Explains why another system does better: its price in the same runs, or the setting; empty = unknown. */
export function reasonOf(
  { scenario, start, metric, system, theirs }: Loss,
  rows: readonly AccuracyRow[],
  ours: string,
): string {
  const special = SPECIAL[scenario]?.[metric];
  if (special !== undefined) return special;
  const figure = (name: string, of: string) =>
    figuresOf(rows, start).find((row) => row.scenario === scenario && row.system === of)?.metrics[name] ?? 0;
  const [refused, ownRefused] = [figure('refusedBelowFair', system), figure('refusedBelowFair', ours)];
  const [used, ownUsed] = [figure('utilisation', system), figure('utilisation', ours)];
  if (metric === 'convergenceMs' && theirs === 0) return 'All want the same; the equal share it starts with is right.';
  if (refused > ownRefused + MORE_REFUSED) {
    return `It refuses ${percent(refused)} below the fair share, \`${ours}\` ${percent(ownRefused)}.`;
  }
  if (used < ownUsed - LESS_USED) return `It uses ${percent(used)}, \`${ours}\` ${percent(ownUsed)}.`;
  if (metric === 'utilisation' && theirs > 1 + MORE_USED)
    return `It admits ${percent(theirs)} of what the quota allows.`;
  if (metric === 'refusedBelowFair' && system === 'fdb-client') return ONE_LIMIT;
  return IN_A_SPAN.has(metric) && figure('overAdmission', ours) <= A_DEPTH_IN_5_S ? DEPTH : '';
}

const IN_A_SPAN: ReadonlySet<string> = new Set(['worstSecond', 'overAdmission', 'secondsOver']);
const MORE_USED = 0.01;
/** Depth ÷ 5 s of quota: 100 of 1,000/s are 2 %, 30 of 100/s 6 %. */
const A_DEPTH_IN_5_S = 0.04;

function percent(ratio: number): string {
  return `${(100 * ratio).toFixed(1)} %`;
}

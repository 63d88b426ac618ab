import { expect, test } from 'vitest';
import type { DecisionLine } from '../../cluster/cluster.js';
import { followed } from '../../cluster/ramp-story.js';
import type { Answered } from '../../cluster/traffic.js';

const RAMP = { begunMs: 0, overMs: 10_000 };
const SPAN = { fromMs: 0, toMs: 13_000 };
const STEP_MS = 10;

interface Cluster {
  /** Shares ÷ line, and grants ÷ shares. */
  readonly given?: number;
  readonly used?: number;
  /** Granted at once at the start, and taken back from what the shares give in the two seconds behind it. */
  readonly burst?: number;
}

/** One node that is asked 1,500 times a second, and whose share follows the line. */
function play({ given = 1, used = 1, burst = 0 }: Cluster) {
  const decisions: DecisionLine[] = [];
  const answered: Answered[] = [];
  let tokens = burst;
  for (let atMs = 0; atMs < SPAN.toMs; atMs += STEP_MS) {
    const shareMessages = given * Math.min(1000, 100 + 0.09 * (atMs + STEP_MS / 2));
    decisions.push({ t: atMs, node: 'a', group: 'orders', shareMessages });
    const paidBack = atMs < 2000 ? burst / 2 : 0;
    tokens += ((used * shareMessages - paidBack) * STEP_MS) / 1000;
    const asked = atMs === 0 ? burst + 15 : 15;
    for (let each = 0; each < asked; each++) {
      const granted = tokens >= 1;
      if (granted) tokens--;
      answered.push({ node: 'a', sentMs: atMs, atMs, granted, decided: true, messages: 1, bytes: 0 });
    }
  }
  return followed(answered, decisions, RAMP, SPAN);
}

test.each<[string, Cluster, { given: number; used: number; most: number }]>([
  ['a cluster on the line', {}, { given: 1, used: 1, most: 1 }],
  ['a burst that is paid back is no work left undone', { burst: 80 }, { given: 1, used: 1, most: 1 }],
  ['a ceiling below the line', { given: 0.9 }, { given: 0.9, used: 1, most: 0.9 }],
  ['a ceiling that is not used', { used: 0.97 }, { given: 1, used: 0.97, most: 0.97 }],
  ['nor behind a burst', { used: 0.97, burst: 80 }, { given: 1, used: 0.97, most: 0.97 }],
  ['more than the ceiling', { used: 1.1 }, { given: 1, used: 1.1, most: 1.1 }],
])('%s', (_what, cluster, expected) => {
  const { given, used, most } = play(cluster);
  expect(given).toBeCloseTo(expected.given, 2);
  expect(used).toBeCloseTo(expected.used, 2);
  expect(most).toBeCloseTo(expected.most, 2);
});

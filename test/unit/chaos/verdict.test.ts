import { describe, expect, test } from 'vitest';
import type { Call } from '../../chaos/clients.js';
import type { FaultKind } from '../../chaos/fault-table.js';
import type { HappenedFault } from '../../chaos/happened.js';
import type { Life } from '../../chaos/lives.js';
import { NODES } from '../../chaos/schedule.js';
import { SharesHeld } from '../../chaos/shares-held.js';
import { tracelessOf } from '../../chaos/traces.js';
import { type Evidence, judge } from '../../chaos/verdict.js';
import type { Sample } from '../../chaos/watch.js';
import { GROUPS, nodeName } from '../../chaos/workload.js';

const DURATION_MS = 60_000;
const WIDE = 0;
const CLOSED = GROUPS.findIndex(({ name }) => name === 'closed');
const STRICT = GROUPS.findIndex(({ isStrict }) => isStrict);
const HELD = { wide: 80, closed: 40 };
const BROKEN_MS = 20_000;

describe('over-admission', () => {
  test('the quota in every window is allowed, three per cent more of a settled cluster are not', () => {
    expect(verdictOf({ rate: (group) => quotaOf(group) }).broken).toEqual([]);
    const more = (group: number, atMs: number) => group === WIDE && atMs > 20_000 && atMs < 30_000;
    const { broken } = verdictOf({ rate: (group, atMs) => quotaOf(group) * (more(group, atMs) ? 1.03 : 1) });
    expect(broken.map(({ what }) => what.split(':')[0])).toEqual(['wide']);
  });

  test('where clients or nodes stood still for a moment, three depths are allowed again, and no more', () => {
    const late = { dueMs: 20_000, sentMs: 20_000, endedMs: 21_100, node: 3, group: WIDE, outcome: 'refused' } as const;
    const rate = (part: number) => (group: number, atMs: number) =>
      quotaOf(group) * (group === WIDE && atMs > 20_000 && atMs < 21_000 ? 1 + part : 1);
    const verdict = (part: number, calls: readonly Call[]) => verdictOf({ rate: rate(part), calls }).broken.length;
    // Three depths of 200/s are 127.3.
    expect([verdict(0.2, []), verdict(0.6, [late]), verdict(0.66, [late])]).toEqual([1, 0, 1]);
  });

  test('of a fault the bound says which span, and beside what', () => {
    const happened = [fault('node-kill', { fromMs: BROKEN_MS, doneMs: BROKEN_MS + 5000 })];
    const rate = (group: number, atMs: number) => quotaOf(group) * (atMs > 21_000 && atMs < 25_000 ? 2 : 1);
    const { broken } = verdictOf({ rate, happened });
    expect(broken.length).toBe(GROUPS.length);
    expect(broken[0]?.faults).toEqual(['node-kill n1 20.0 s–25.0 s']);
    expect(broken[0]?.fromMs).toBeGreaterThanOrEqual(20_000);
    expect(broken[0]?.fromMs).toBeLessThanOrEqual(21_500);
  });

  test.each([
    ['while it is still counted by the others, nothing more', 21_000, 25_000, WIDE, 0],
    ['from stalenessMs on what it held', 26_000, 29_000, WIDE, HELD.wide],
    ['from holdMs on its fallback, a fifth of the quota', 32_000, 39_000, WIDE, 40],
    ['of a closed group with holdMs 0 nothing at any time', 21_000, 39_000, CLOSED, 0],
  ])('a node that is cut off alone adds, %s', (_, fromMs, toMs, group, extra) => {
    const happened = [fault('link-drop', { fromMs: BROKEN_MS, doneMs: 40_000 })];
    const more = (factor: number) => (of: number, atMs: number) =>
      quotaOf(of) + (of === group && atMs >= fromMs && atMs < toMs ? extra + factor * quotaOf(of) : 0);
    const worst = (factor: number) => verdictOf({ rate: more(factor), happened }).broken.length;
    expect(worst(0)).toBe(0);
    expect(worst(0.5)).toBe(1);
  });

  test('a strict group has one depth above its quota, whatever fails beside it', () => {
    const happened = [fault('link-drop', { fromMs: BROKEN_MS, doneMs: 40_000 })];
    const worst = (part: number) => {
      const rate = (of: number, atMs: number) =>
        quotaOf(of) * (of === STRICT && atMs >= 22_000 && atMs < 24_000 ? 1 + part : 1);
      return verdictOf({ rate, happened }).broken.map(({ what }) => what.split(':')[0]);
    };
    expect([worst(0.45), worst(0.55)]).toEqual([[], ['strict']]);
  });

  test('what changes beside a node that is cut off may count against what it holds, at once', () => {
    const cut = fault('link-drop', { fromMs: BROKEN_MS, doneMs: 40_000 });
    const beside = fault('node-kill', { fromMs: BROKEN_MS + 500, doneMs: BROKEN_MS + 4000, node: 1 });
    const rate = (group: number, atMs: number) => {
      return quotaOf(group) + (group === WIDE && atMs > 21_000 && atMs < 24_500 ? HELD.wide : 0);
    };
    expect(verdictOf({ rate, happened: [cut, beside] }).broken).toEqual([]);
    expect(verdictOf({ rate, happened: [cut] }).broken.length).toBe(1);
  });

  test('while the whole topic is away there is nothing on top of the quota but three depths', () => {
    const happened = [fault('brokers-all-frozen', { fromMs: BROKEN_MS, doneMs: 40_000 })];
    const burst = (3 * 3 * Math.sqrt(200)) / 10;
    const rate = (more: number) => (group: number, atMs: number) =>
      quotaOf(group) + (group === WIDE && atMs > 25_000 && atMs < 35_000 ? more : 0);
    expect(verdictOf({ rate: rate(burst * 0.9), happened }).broken).toEqual([]);
    expect(verdictOf({ rate: rate(burst * 1.2), happened }).broken.length).toBe(1);
  });

  test('what a frozen node answers late it has decided after it was thawed', () => {
    const happened = [fault('node-freeze', { fromMs: BROKEN_MS, remedyMs: 32_000, doneMs: 32_000 })];
    const late = Array.from({ length: 700 }, () => {
      return { dueMs: 20_500, sentMs: 20_500, endedMs: 32_100, node: 0, group: WIDE, outcome: 'granted' } as const;
    });
    const { broken } = verdictOf({ rate: (group) => quotaOf(group), happened, calls: late });
    expect(broken.map(({ what }) => what.split(':')[0])).toEqual(['wide']);
    expect(broken[0]?.fromMs).toBeGreaterThan(27_000);
  });
});

describe('being one cluster again', () => {
  test('within 5 s of the last remedy, or a promise is broken', () => {
    const happened = [fault('link-reset', { fromMs: BROKEN_MS, doneMs: 30_000 })];
    const back = (afterMs: number) => (atMs: number) => atMs < BROKEN_MS || atMs > 30_000 + afterMs;
    const kept = verdictOf({ rate: (group) => quotaOf(group), happened, isWell: back(2000) });
    expect(kept.broken).toEqual([]);
    expect(kept.recoveries[0]?.tookMs).toBeCloseTo(2000, -3);
    const { broken } = verdictOf({ rate: (group) => quotaOf(group), happened, isWell: back(7000) });
    expect(broken.map(({ what }) => what)).toEqual([expect.stringContaining('link-reset n1: one again after 7')]);
    const never = verdictOf({ rate: (group) => quotaOf(group), happened, isWell: back(100_000) });
    expect(never.broken[0]?.what).toContain('not at all');
  });

  test('nodes that hold different views of one share are not one cluster', () => {
    const happened = [fault('topic-anew', { fromMs: BROKEN_MS, doneMs: 21_000 })];
    const { broken } = verdictOf({ rate: (group) => quotaOf(group), happened, misjudged: true });
    expect(broken[0]?.what).toMatch(/n1 applies 40\.0 of wide, n2 computes 60\.0 for it/);
  });
});

test.each([
  ['link-drop', 'n1 heard nothing for more than 5 s and did not say so'],
  ['node-kill', 'n1 has the life that it had before'],
  ['node-freeze', 'n1 answered while it was frozen'],
  ['topic-anew', 'n1 reads the log that it read before'],
  ['brokers-all-frozen', 'n1 heard nothing for more than 5 s and did not say so'],
] as const)('a %s that leaves no trace proves nothing', (kind, what) => {
  const happened = [fault(kind, { fromMs: BROKEN_MS, doneMs: 30_000 })];
  const rate = (group: number) => quotaOf(group);
  expect(verdictOf({ rate, happened }).broken).toEqual([]);
  const { broken } = verdictOf({ rate, happened, isTraceless: true });
  expect(broken[0]?.what).toContain(what);
  expect(broken.length).toBe(happened[0]?.fault.node === null ? NODES : 1);
});

test('the number that a life had in a log that is gone is another life', () => {
  const isTraceless = (kinds: readonly FaultKind[]) => {
    const happened = kinds.map((kind) => fault(kind, { fromMs: BROKEN_MS, doneMs: 30_000 }));
    const samples = samplesOf(() => true, false, happened).map(({ seen, ...sample }) => {
      return { ...sample, seen: seen && { ...seen, incarnation: 1 } };
    });
    return tracelessOf(samples, happened).map(({ happened: { fault: planned } }) => planned.kind);
  };
  expect(isTraceless(['node-kill'])).toEqual(['node-kill']);
  expect(isTraceless(['node-kill', 'topic-anew'])).toEqual([]);
});

test('who is cut off while the topic is made anew finds the other log when it is back', () => {
  const anew = fault('topic-anew', { fromMs: BROKEN_MS, doneMs: 22_000 });
  const cut = fault('link-reset', { fromMs: 21_000, doneMs: 31_000 });
  const samples = (noticedMs: number) => {
    return samplesOf(() => true, false, [cut]).map(({ seen, ...sample }) => {
      const epoch = sample.atMs > (sample.node === 0 ? noticedMs : anew.doneMs) ? 'anew' : 'first';
      return { ...sample, seen: seen && { ...seen, epoch } };
    });
  };
  expect(tracelessOf(samples(31_500), [anew, cut])).toEqual([]);
  expect(tracelessOf(samples(40_000), [anew, cut]).map(({ what }) => what)).toEqual([
    'topic-anew: n1 reads the log that it read before',
  ]);
});

test('nobody rises while it is cut off', () => {
  const happened = [fault('link-drop', { fromMs: BROKEN_MS, doneMs: 40_000 })];
  const rises = { atMs: 28_000, share: HELD.wide + 10 };
  const { broken } = verdictOf({ rate: (group) => quotaOf(group), happened, rises });
  expect(broken.map(({ what }) => what)).toEqual([expect.stringContaining('wide: n1 rose to 90.0')]);
});

describe('the account of a group', () => {
  /** 100/s, so three depths are 90. */
  const closed = (grants: readonly Call[], scene: Partial<Scene> = {}) => {
    const verdict = verdictOf({ rate: () => 0, happened: TWO_CUT, calls: grants, ...scene });
    const found = verdict.broken.filter(({ what }) => what.includes('granted above'));
    return { named: found.map(({ what }) => what), account: verdict.accounts[CLOSED] };
  };

  test('allows 533 in 5 s while two nodes come back, and 590, and not 591', () => {
    const evenly = (count: number) => granted(count, 27_500, 32_500);
    expect(closed(evenly(533)).named).toEqual([]);
    expect(closed(evenly(533)).account).toMatchObject({ granted: 533, most: 90 });
    expect(closed(evenly(533)).account.above).toBeCloseTo(33 - 0.1, 6);
    expect(closed(evenly(590)).named).toEqual([]);
    expect(closed(evenly(591)).named).toEqual([
      'closed: 90.9 granted above 100/s and what faults allow in 5.0 s, 90.0 promised',
    ]);
  });

  test('judges every span: two per cent too much for 44 s are allowed, for 46 s not', () => {
    const slowly = (seconds: number) => closed(granted(102 * seconds, 10_000, 10_000 + 1000 * seconds)).named;
    expect(slowly(44)).toEqual([]);
    expect(slowly(46)).toEqual(['closed: 91.9 granted above 100/s and what faults allow in 46.0 s, 90.0 promised']);
  });

  /** So many within 21 ms around the end of a life, in which 2.1 flow in. */
  const around25s = (count: number) => [...granted(60, 24_990, 24_990), ...granted(count - 60, 25_010, 25_010)];

  test('a killed node allows an advance of five nodes, 15, in the spans that hold its end', () => {
    const killed = [...RUNNING.slice(1), { ...RUNNING[0], endedMs: 25_000 }];
    expect(closed(around25s(107), { lives: killed, happened: [] }).named).toEqual([]);
    expect(closed(around25s(108), { lives: killed, happened: [] }).named).toEqual([
      'closed: 90.9 granted above 100/s and what faults allow in 0.0 s, 90.0 promised',
    ]);
    const later = [...granted(60, 24_000, 24_000), ...granted(91, 25_010, 25_010)];
    expect(closed(later, { lives: killed, happened: [] }).named).toHaveLength(1);
  });

  test('a node that is stopped, or was never ready, allows nothing', () => {
    const stopped = { ...RUNNING[0], endedMs: 25_000, isStopped: true };
    const unready = { ...RUNNING[0], readyMs: null, endedMs: 25_000 };
    for (const one of [stopped, unready, RUNNING[0]]) {
      const lives = [...RUNNING.slice(1), one];
      expect(closed(around25s(92), { lives }).named).toEqual([]);
      expect(closed(around25s(93), { lives }).named).toHaveLength(1);
    }
  });

  test('where a node no longer counts an advance is larger: of four nodes 20', () => {
    const gone = [0, 1].map((node) => ({ ...RUNNING[node], endedMs: 25_000 - 10_000 * node }));
    const lives = [...RUNNING.slice(2), ...gone];
    expect(closed(around25s(112), { lives, happened: [] }).named).toEqual([]);
    expect(closed(around25s(113), { lives, happened: [] }).named).toHaveLength(1);
  });

  test('a node that starts may grant an advance within two deliveries, and nobody else for it', () => {
    const lives = [...RUNNING, { ...RUNNING[0], readyMs: 33_000 }];
    const together = (count: number, node: number, atMs: number) => [
      ...granted(90, atMs, atMs),
      ...granted(count, atMs, atMs, node),
    ];
    const isNamed = (grants: readonly Call[], happened: readonly HappenedFault[]) =>
      closed(grants, { lives, happened }).named.length > 0;
    expect(isNamed(together(15, 0, 34_900), [])).toBe(false);
    expect(isNamed(together(16, 0, 34_900), [])).toBe(true);
    expect(isNamed(together(15, 1, 34_900), [])).toBe(true);
    expect(isNamed(together(15, 0, 35_600), [])).toBe(true);
    // A link may delay records until 5 s after it works again; of the three nodes that count each may take all.
    expect(isNamed(together(30, 0, 35_600), TWO_CUT)).toBe(false);
    expect(isNamed(together(31, 0, 35_600), TWO_CUT)).toBe(true);
    expect(isNamed(together(15, 0, 35_800), TWO_CUT)).toBe(true);
  });

  /** As they were cut off when a window of 5 s held 533. */
  const TWO_CUT = [
    fault('link-drop', { fromMs: 19_000, doneMs: 29_900, node: 2 }),
    fault('link-half-open', { fromMs: 21_800, doneMs: 30_700, node: 3 }),
  ];
  const RUNNING: readonly Life[] = Array.from({ length: NODES }, (_, node) => {
    return { node, readyMs: -10_000, endedMs: null, isStopped: false };
  });
});

/** Grants of `closed`, evenly from the first to the last. */
function granted(count: number, fromMs: number, toMs: number, node = 1): Call[] {
  return Array.from({ length: count }, (_, at) => {
    const atMs = fromMs + ((toMs - fromMs) * at) / (count - 1);
    return { dueMs: atMs, sentMs: atMs, endedMs: atMs + 1, node, group: CLOSED, outcome: 'granted' as const };
  });
}

interface Scene {
  /** Granted per second, by group and time. */
  readonly rate: (group: number, atMs: number) => number;
  readonly happened?: readonly HappenedFault[];
  readonly lives?: readonly Life[];
  readonly calls?: readonly Call[];
  readonly isWell?: (atMs: number) => boolean;
  readonly misjudged?: boolean;
  readonly rises?: { readonly atMs: number; readonly share: number };
  /** What nodes say of themselves is what they said before the faults. */
  readonly isTraceless?: boolean;
}

function verdictOf(scene: Scene) {
  const {
    rate,
    happened = [],
    lives = [],
    calls = [],
    isWell = () => true,
    misjudged = false,
    rises,
    isTraceless = false,
  } = scene;
  const lines = [line(0, 'wide', HELD.wide), line(0, 'closed', HELD.closed)];
  if (rises !== undefined) lines.push(line(rises.atMs, 'wide', rises.share));
  const evidence: Evidence = {
    durationMs: DURATION_MS,
    waitedForCore: null,
    wrongs: [],
    calls: [...GROUPS.flatMap((_, group) => callsAt(group, rate)), ...calls],
    samples: samplesOf(isWell, misjudged, isTraceless ? [] : happened),
    happened,
    lives,
    shares: new SharesHeld(lines.join('\n'), 0, NODES),
  };
  return judge(evidence);
}

function callsAt(group: number, rate: Scene['rate']): Call[] {
  const calls: Call[] = [];
  let owed = 0;
  for (let atMs = 0; atMs < DURATION_MS; atMs += 10) {
    for (owed += rate(group, atMs) / 100; owed >= 1; owed--) {
      calls.push({ dueMs: atMs, sentMs: atMs, endedMs: atMs + 1, node: 1, group, outcome: 'granted' });
    }
  }
  return calls;
}

function samplesOf(
  isWell: (atMs: number) => boolean,
  misjudged: boolean,
  happened: readonly HappenedFault[],
): Sample[] {
  const samples: Sample[] = [];
  for (let atMs = 100; atMs < DURATION_MS; atMs += 250) {
    for (let node = 0; node < NODES; node++)
      samples.push({
        atMs,
        node,
        seen: isWell(atMs) ? traced({ atMs, node }, seenBy(node, misjudged), happened) : null,
      });
  }
  return samples;
}

/** What a node says while these faults are done, and afterwards. */
function traced(
  { atMs, node }: Pick<Sample, 'atMs' | 'node'>,
  said: NonNullable<Sample['seen']>,
  happened: readonly HappenedFault[],
): Sample['seen'] {
  let seen: Sample['seen'] = said;
  for (const { fault, fromMs, remedyMs, doneMs } of happened) {
    const isHit = fault.node === node || fault.node === null;
    if (!isHit || seen === null) continue;
    const isBroken = atMs > fromMs && atMs < remedyMs;
    if (fault.kind.startsWith('node') && isBroken) seen = null;
    else if (fault.kind === 'topic-anew' && atMs > doneMs) seen = { ...seen, epoch: 'anew' };
    else if (fault.kind === 'node-kill' && atMs > doneMs) seen = { ...seen, incarnation: 2 };
    else if (/^link-|^brokers-/.test(fault.kind) && isBroken && atMs > fromMs + 3000) {
      seen = { ...seen, degraded: ['isolated: partition 0'] };
    }
  }
  return seen;
}

function seenBy(node: number, misjudged: boolean): NonNullable<Sample['seen']> {
  const all = Array.from({ length: NODES }, (_, index) => index);
  const groups = GROUPS.map(({ quota }, group) => {
    const isWrong = misjudged && node === 1 && group === WIDE;
    return { share: quota / NODES, shares: all.map((index) => (isWrong && index === 0 ? 60 : quota / NODES)) };
  });
  return { incarnation: 1, epoch: 'first', degraded: [], alive: all, groups };
}

function line(t: number, group: string, shareMessages: number): string {
  return JSON.stringify({ t, node: nodeName(0), group, direction: 'publish', shareMessages });
}

function fault(
  kind: FaultKind,
  times: { fromMs: number; remedyMs?: number; doneMs: number; node?: number },
): HappenedFault {
  const { fromMs, doneMs, remedyMs = doneMs, node = 0 } = times;
  const isNodes = kind.startsWith('node') || kind.startsWith('link');
  const planned = { kind, fromMs, toMs: remedyMs, node: isNodes ? node : null, broker: null, delayMs: null };
  return { fault: planned, round: 0, fromMs, remedyMs, doneMs, notes: [] };
}

function quotaOf(group: number): number {
  return GROUPS[group]?.quota ?? 0;
}

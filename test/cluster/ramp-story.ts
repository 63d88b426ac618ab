import { setTimeout as sleep } from 'node:timers/promises';
import type { GroupStatus } from '../../src/node/api/node-status.js';
import { epochNow } from '../../src/tools/load/epoch-now.js';
import { Cluster, type ClusterOptions, type DecisionLine } from './cluster.js';
import { type Answered, TrafficProcess } from './traffic.js';

const IDS = ['a', 'b', 'c'];
/** All have work for the top of the ramp, and two for the ceiling at which the third is restarted. */
const RATE = 350;
const [FROM, TO] = [100, 1000];
const WINDOW_MS = 5000;
const STEP_MS = 250;
const INTEGRATED_MS = 10;
/** Milliseconds of its target that the cluster's bucket holds. */
const CARRIED_MS = 100;

/** Compares grants and shares with a ramp. Work was admitted between its asking and its answer. */
export interface Followed {
  /** ∫ Σ shares ÷ ∫ line: the ceiling goes in steps, and travels through the log. */
  readonly given: number;
  /**
   * Least that may have been admitted ÷ what the shares gave of the work that reached the nodes, over any 5 s. What was
   * taken before, beyond the shares, is paid back in them and counts: a ramp begins with a full bucket, of which each of
   * the nodes may take all (docs/guide/tokens.md#the-rules).
   */
  readonly used: number;
  /** Most that must have been admitted ÷ ∫ line, over any 5 s. */
  readonly most: number;
}

export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/** A line from 100/s to 1,000/s. */
export interface Ramp {
  readonly begunMs: number;
  readonly overMs: number;
}

export interface RampRun {
  /** 100 → 1,000 in 10 s, and 3 s at the top. */
  readonly climb: Followed;
  /** 100 → 1,000 in 30 s: while all nodes are restarted one by one in the middle of it, and afterwards. */
  readonly restarting: Pick<Followed, 'most'>;
  readonly resumed: Followed;
  /** What a node says of the ceiling ÷ the line, after the restart. */
  readonly shown: number;
}

/** Two groups with a scheduled ramp, one after the other: one is let climb, the other resumes after a rolling restart. */
export async function playRamps(topic: ClusterOptions['topic']): Promise<RampRun> {
  const cluster = await Cluster.create({
    topic,
    nodeSettings: { groups: { short: group('10s'), long: group('30s') } },
  });
  const traffic = new TrafficProcess();
  const history: Answered[] = [];
  const drive = (name: string, ...ids: string[]) => {
    const targets = ids.map((node) => ({ node, url: cluster.url(node), ratePerSecond: RATE, group: name }));
    return traffic.setRates(targets, { poisson: false });
  };
  /** Returns the time until which all answers are there. */
  const collect = async () => {
    const toMs = epochNow();
    await sleep(100);
    history.push(...(await traffic.collect()));
    return toMs;
  };
  const follow = async (name: string, ramp: Ramp, span: Span) => {
    const decisions = (await cluster.decisions()).filter(({ group }) => group === name);
    return followed(history, decisions, ramp, span);
  };
  try {
    await cluster.start(...IDS);
    const drivenMs = drive('short', ...IDS);
    await sleep(13_000);
    const climbedMs = await collect();
    const climbMs = firstUse(history, drivenMs);
    const short = { begunMs: climbMs, overMs: 10_000 };
    const climb = await follow('short', short, { fromMs: climbMs, toMs: climbedMs });

    const longDrivenMs = drive('long', ...IDS);
    await sleep(6000);
    for (const id of IDS) {
      const others = IDS.filter((other) => other !== id);
      drive('long', ...others);
      cluster.node(id).child.signal('SIGTERM');
      await cluster.node(id).child.ended;
      await cluster.start(id);
      drive('long', ...IDS);
      await sleep(500);
    }
    const resumedMs = epochNow();
    await sleep(WINDOW_MS + 1000);
    const [ceiling, shownMs] = [await shownCeiling(cluster, 'a', 'long'), epochNow()];
    const toMs = await collect();
    const longMs = firstUse(history, longDrivenMs);
    const long = { begunMs: longMs, overMs: 30_000 };
    const restarting = await follow('long', long, { fromMs: longMs, toMs });
    const resumed = await follow('long', long, { fromMs: resumedMs, toMs });
    return { climb, restarting, resumed, shown: ceiling / lineAt(long, shownMs) };
  } finally {
    traffic.stop();
    await cluster.stop();
  }
}

/** The default bucket of 100 ms bears the pauses of a busy machine, and adds a hundredth to 5 s at most. */
function group(overMs: string): object {
  return {
    quota: { publish: { messagesPerSecond: TO } },
    ramp: { mode: 'scheduled', fromPerSecond: FROM, overMs },
  };
}

/** A ramp begins with the first use (docs/guide/ramps.md), not when clients begin to connect. */
function firstUse(answered: readonly Answered[], sinceMs: number): number {
  return Math.min(...answered.flatMap(({ granted, atMs }) => (granted && atMs >= sinceMs ? [atMs] : [])));
}

/** @param decisions of the ramp's group, in order of time */
export function followed(
  answered: readonly Answered[],
  decisions: readonly DecisionLine[],
  ramp: Ramp,
  { fromMs, toMs }: Span,
): Followed {
  const granted = answered.filter(({ granted }) => granted);
  const decided = answered.filter(({ decided }) => decided);
  const given = givenBy(decisions);
  const carriable = (startMs: number) => {
    let sum = 0;
    for (let at = startMs; at < startMs + WINDOW_MS; at += CARRIED_MS) {
      sum += Math.min(answeredIn(decided, at, at + CARRIED_MS), given(at, at + CARRIED_MS));
    }
    return sum;
  };
  let [used, most] = [Infinity, 0];
  for (let startMs = fromMs; startMs + WINDOW_MS <= toMs; startMs += STEP_MS) {
    const endMs = startMs + WINDOW_MS;
    const certain = granted.filter(({ sentMs, atMs }) => sentMs >= startMs && atMs < endMs).length;
    const possible = granted.filter(({ sentMs, atMs }) => atMs >= startMs && sentMs < endMs).length;
    const owed = Math.max(0, answeredIn(granted, fromMs, startMs) - given(fromMs, startMs));
    used = Math.min(used, (possible + owed) / carriable(startMs));
    most = Math.max(most, certain / allowed(ramp, startMs, endMs));
  }
  const climbedMs = Math.min(toMs, ramp.begunMs + ramp.overMs);
  return { given: given(fromMs, climbedMs) / allowed(ramp, fromMs, climbedMs), used, most };
}

function answeredIn(answered: readonly Answered[], fromMs: number, toMs: number): number {
  return answered.filter(({ atMs }) => atMs >= fromMs && atMs < toMs).length;
}

/** ∫ Σ shares dt, messages: a node's share holds until its next line. */
function givenBy(decisions: readonly DecisionLine[]): (fromMs: number, toMs: number) => number {
  const shares = new Map<string, number>();
  const steps = decisions.map(({ t, node, shareMessages }) => {
    shares.set(node, shareMessages ?? 0);
    return { t, sum: [...shares.values()].reduce((sum, share) => sum + share, 0) };
  });
  return (fromMs, toMs) => {
    let given = 0;
    for (const [at, { t, sum }] of steps.entries()) {
      const untilMs = Math.min(toMs, steps[at + 1]?.t ?? Infinity);
      given += (sum * Math.max(0, untilMs - Math.max(t, fromMs))) / 1000;
    }
    return given;
  };
}

function lineAt({ begunMs, overMs }: Ramp, atMs: number): number {
  return Math.min(TO, FROM + ((TO - FROM) * Math.max(0, atMs - begunMs)) / overMs);
}

/** ∫ line dt, messages. */
function allowed(ramp: Ramp, fromMs: number, toMs: number): number {
  let sum = 0;
  for (let at = fromMs; at < toMs; at += INTEGRATED_MS) {
    const untilMs = Math.min(toMs, at + INTEGRATED_MS);
    sum += (lineAt(ramp, (at + untilMs) / 2) * (untilMs - at)) / 1000;
  }
  return sum;
}

async function shownCeiling(cluster: Cluster, id: string, name: string): Promise<number> {
  const answer = await fetch(`${cluster.url(id)}/v1/groups/${name}`, { signal: AbortSignal.timeout(5000) });
  const { directions } = (await answer.json()) as GroupStatus;
  return directions.publish.ramp?.ceiling ?? Number.NaN;
}

import { type Call, isDecided } from '../../src/tools/load/call.js';
import type { LoadPlan } from '../../src/tools/load/load-order.js';
import { medianOf, quantileOf } from '../../src/tools/load/quantile.js';
import { type ArrivalStream, arrivalStreams } from '../load/arrival-streams.js';
import type { Attempts } from '../run/recording.js';
import type { Scenario } from '../scenario/scenario.js';

/** Milliseconds without an answer at a frozen node. */
const PATIENCE_MS = 1000;

/** Punctuality of the machine; a busy one shows itself, not the nodes. */
export interface Punctuality {
  /** Milliseconds that requests left late. */
  readonly medianLateMs: number;
  readonly worstLateMs: number;
  /** Part of attempts unanswered in time, counted as refused, frozen nodes included. */
  readonly missedRatio: number;
}

/** Plans the simulator's arrivals of this seed. */
export function trafficPlan(scenario: Scenario, seed: number, urls: readonly string[], sinceMs: number): LoadPlan {
  const streams = arrivalStreams(scenario).map((arrivals, tag) => {
    return { tag, arrivals, group: LIVE_GROUP, urls: [urls[arrivals.node]] };
  });
  return { sinceMs, seed, patienceMs: PATIENCE_MS, streams };
}

/** Returns attempts for the judge; decided ones count at their answer. */
export function attemptsOf(calls: readonly Call[], { sinceMs, streams }: LoadPlan): Attempts {
  const arrivalsOf = ({ tag }: Call): ArrivalStream => streams[tag].arrivals;
  return {
    atMs: Float64Array.from(calls, (call) => (isDecided(call) ? call.endedMs : call.sentMs) - sinceMs),
    node: Uint16Array.from(calls, (call) => arrivalsOf(call).node),
    messages: Float64Array.from(calls, (call) => arrivalsOf(call).piece.messages),
    bytes: Float64Array.from(calls, ({ bytes }) => bytes),
    retry: Uint8Array.from(calls, ({ retry }) => (retry ? 1 : 0)),
    admitted: Uint8Array.from(calls, ({ outcome }) => (outcome === 'granted' ? 1 : 0)),
  };
}

export function punctualityOf(calls: readonly Call[]): Punctuality {
  const firsts = calls.filter(({ retry }) => !retry);
  const lateMs = firsts.map(({ dueMs, sentMs }) => sentMs - dueMs);
  const missed = calls.filter(({ outcome }) => outcome === 'late' || outcome === 'unsent').length;
  if (firsts.length === 0) return { medianLateMs: 0, worstLateMs: 0, missedRatio: 0 };
  return { medianLateMs: medianOf(lateMs), worstLateMs: quantileOf(lateMs, 1), missedRatio: missed / calls.length };
}

const LIVE_GROUP = 'scenario';

export function liveConfig(
  { quota, settings, written }: Scenario,
  topic: Readonly<Record<string, unknown>>,
  decisionsFile: string,
): string {
  const publish = Object.fromEntries(Object.entries(quota).filter(([, rate]) => Number.isFinite(rate)));
  const config = {
    cluster: settings.cluster,
    topic,
    log: { decisionsFile },
    timing: written.timing,
    groups: { [LIVE_GROUP]: { ...(written.group as object), quota: { publish } } },
  };
  return `${JSON.stringify(config, null, 2)}\n`;
}

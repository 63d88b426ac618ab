import { type Call, isDecided } from '../../src/tools/load/call.js';
import type { LoadPlan } from '../../src/tools/load/load-order.js';
import { medianOf, quantileOf } from '../../src/tools/load/quantile.js';
import { type ArrivalStream, arrivalStreams } from '../load/arrival-streams.js';
import type { Attempts } from '../run/recording.js';
import type { Scenario } from '../scenario/scenario.js';

/** Arrivals at a frozen node get no answer for this time. */
const PATIENCE_MS = 1000;

/** How well the machine kept to the plan. One that is too busy shows itself, not the nodes. */
export interface Punctuality {
  /** How much later than planned requests left. */
  readonly medianLateMs: number;
  readonly worstLateMs: number;
  /** Part of the attempts that a node did not answer in time, counted as refused; those of frozen nodes among them. */
  readonly missedRatio: number;
}

/** What the simulator lets arrive with this seed, at the nodes in their order. */
export function trafficPlan(scenario: Scenario, seed: number, urls: readonly string[], sinceMs: number): LoadPlan {
  const streams = arrivalStreams(scenario).map((arrivals, tag) => {
    return { tag, arrivals, group: LIVE_GROUP, urls: [urls[arrivals.node]] };
  });
  return { sinceMs, seed, patienceMs: PATIENCE_MS, streams };
}

/** As the judge of the simulator reads them; one that was decided counts when it was answered. */
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

/** The one group of a scenario. */
export const LIVE_GROUP = 'scenario';

/** What node.yaml says in a live run: the scenario's quota, `group` and `timing`, on that topic. JSON is YAML. */
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

import type { Findings } from '../../src/config/setting/findings.js';
import { arrivalStreams } from '../load/arrival-streams.js';
import { rateAt } from '../load/rate-profile.js';
import type { RawScenario, ScenarioCheck } from '../scenario/load-scenario.js';
import type { Scenario } from '../scenario/scenario.js';

export type LiveTopicKind = 'embedded' | 'kafka';

export interface LiveBounds {
  readonly topic: LiveTopicKind;
  /** True = a broker can be frozen. */
  readonly brokerKnown: boolean;
  /** Requests/s of all nodes, retries included. */
  readonly requestsPerSecondMax: number;
}

/** Nodes of some 80 MB on one machine, with their traffic. */
const LIVE_NODES_MAX = 16;

/** Rejects what only the simulator can play. */
export function checkLive(bounds: LiveBounds): ScenarioCheck {
  return (scenario, raw, findings) => {
    checkNodes(scenario, findings);
    checkNetwork(raw, findings, bounds.topic);
    checkHappenings(raw, findings, bounds);
    checkLoadKinds(raw, findings);
    checkRates(scenario, findings, bounds.requestsPerSecondMax);
  };
}

const REMEDY =
  'Live runs play open loads, rate, start, crash, leave, stall and outage; `quotamesh sim run` plays everything.';
const LIVE_HAPPENINGS: readonly string[] = ['rate', 'start', 'crash', 'leave', 'stall', 'outage'];
const ALLOWED_HAPPENINGS = `one of ${LIVE_HAPPENINGS.join(', ')}`;

function checkNodes({ nodes }: Scenario, findings: Findings): void {
  if (nodes.length <= LIVE_NODES_MAX) return;
  const allowed = `at most ${LIVE_NODES_MAX} nodes, each a process`;
  findings.add(['nodes'], { problem: `are ${nodes.length}; a live run has ${allowed}`, allowed, remedy: REMEDY });
}

/** Rejects delays and losses: real ones are what they are. */
function checkNetwork(raw: RawScenario, findings: Findings, topic: LiveTopicKind): void {
  const network = (raw.network ?? {}) as Readonly<Record<string, unknown>>;
  for (const [key, value] of Object.entries(network)) {
    if (key === 'partitions' && (topic === 'kafka' || value === 1)) continue;
    const allowed = 'the network of this machine; partitions with --topic kafka';
    const remedy = `Allowed is ${allowed}. ${REMEDY}`;
    findings.add(['network', key], { problem: 'cannot be played live', allowed, remedy });
  }
}

function checkHappenings(raw: RawScenario, findings: Findings, { topic, brokerKnown }: LiveBounds): void {
  for (const [at, entry] of listOf(raw.happenings).entries()) {
    const what = String(entry.what);
    const path = ['happenings', at, 'what'];
    if (!LIVE_HAPPENINGS.includes(what)) {
      const problem = `must be ${ALLOWED_HAPPENINGS} in a live run, got ${what}`;
      findings.add(path, { problem, allowed: ALLOWED_HAPPENINGS, remedy: REMEDY });
    } else if (what === 'outage' && topic === 'kafka' && !brokerKnown) {
      const remedy = 'Give the process id of the broker with --broker-pid; it is frozen for the time of the outage.';
      findings.add(path, { problem: 'needs a broker that can be frozen', allowed: '--broker-pid', remedy });
    } else if (what === 'outage' && topic === 'embedded' && process.platform !== 'linux') {
      // The log's gate needs Linux's abstract sockets (topic/embedded/commit-gate.ts).
      const allowed = 'Linux, or --topic kafka';
      findings.add(path, { problem: 'of the embedded topic needs Linux', allowed, remedy: REMEDY });
    }
  }
}

function checkLoadKinds(raw: RawScenario, findings: Findings): void {
  for (const [at, entry] of listOf(raw.load).entries()) {
    if (entry.kind !== 'clients') continue;
    const allowed = 'an open load: every kind but clients';
    const problem = `must be ${allowed}, in a live run: clients wait for answers, so their arrivals are not the seed’s`;
    findings.add(['load', at, 'kind'], { problem, allowed, remedy: REMEDY });
  }
}

function checkRates(scenario: Scenario, findings: Findings, most: number): void {
  const { atMs, rate } = busiestMoment(scenario);
  if (rate <= most) return;
  const allowed = `at most ${Math.round(most)} requests/s in all`;
  findings.add(['load'], {
    problem: `asks for ${Math.round(rate)} requests/s at ${atMs / 1000} s, retries included; a live run carries ${allowed}`,
    allowed,
    remedy: 'Lower the rates, or raise --max-rate if this machine carries more.',
  });
}

/** Finds the busiest moment; rates change with profiles alone. */
function busiestMoment(scenario: Scenario): { readonly atMs: number; readonly rate: number } {
  const streams = arrivalStreams(scenario);
  const rateOfAll = (nowMs: number) =>
    streams.reduce((sum, { profile, retries }) => sum + rateAt(profile, nowMs) * (1 + retries), 0);
  const times = new Set(streams.flatMap(({ profile }) => profile.atMs));
  let busiest = { atMs: 0, rate: 0 };
  for (const atMs of [...times].sort((one, other) => one - other)) {
    const rate = rateOfAll(atMs);
    if (rate > busiest.rate) busiest = { atMs, rate };
  }
  return busiest;
}

function listOf(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? value : [];
}

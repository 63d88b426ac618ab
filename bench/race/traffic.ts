import { createReadStream } from 'node:fs';
import { Random } from '../../sim/cluster/random.js';
import { readTrace } from '../../sim/replay/read-trace.js';

export const TRAFFICS = ['steady', 'skewed', 'trace', 'bursts', 'killed', 'long'] as const;
export type TrafficName = (typeof TRAFFICS)[number];

/** Arrivals of all nodes, made before the first one: nothing that a limiter does can move them. */
export interface Traffic {
  readonly name: TrafficName;
  /** One schedule a node: milliseconds since the beginning, in order. */
  readonly dueMs: readonly Float64Array[];
  /** Nothing before this time is in a figure. */
  readonly measuredFromMs: number;
  readonly endsMs: number;
  /** When the store is away; null = never. */
  readonly away: { readonly fromMs: number; readonly toMs: number } | null;
  /** All requests of a burst are due at its time. */
  readonly bursts: readonly { readonly atMs: number; readonly nodes: number }[];
}

export interface TrafficOptions {
  readonly perSecond: number;
  readonly nodes: number;
  readonly seed: number;
  /** How long the measured part is; null = as long as the traffic's own default. */
  readonly seconds: number | null;
  /** A CSV with a header. */
  readonly traceFile: string;
  /** Its column of the time. */
  readonly traceTime: string;
}

/** Twice the quota is wanted wherever traffic is even, so that each limiter has to refuse half. */
const WANTED = 2;
/** What the first node of skewed traffic gets of it. */
const SKEW = 0.8;
/** The mean of a trace beside the quota. */
const TRACE_WANTED = 1 / 0.9;
/** A node needs eight seconds of load until what it tells others is steady, and that is no part of a race. */
const WARM_MS = 8000;
const SECOND_MS = 1000;
const REST_MS = 3000;
/** Requests at once, in seconds of the quota. */
const BURST_SECONDS = 3;
const AWAY_MS = 4000;
/** Long enough for a stretch of 20 s, where traffic is even. */
const DEFAULT_SECONDS: Readonly<Record<TrafficName, number>> = {
  steady: 20,
  skewed: 20,
  trace: 20,
  bursts: 8,
  killed: 7,
  long: 300,
};

export async function trafficOf(name: TrafficName, options: TrafficOptions): Promise<Traffic> {
  const measuredMs = (options.seconds ?? DEFAULT_SECONDS[name]) * SECOND_MS;
  if (name === 'skewed') return even(name, options, 2000, measuredMs, skewOf(options.nodes));
  if (name === 'trace') return ofTrace(options, measuredMs);
  if (name === 'bursts') return ofBursts(options);
  const parts = Array.from({ length: options.nodes }, () => 1 / options.nodes);
  const traffic = even(name, options, WARM_MS, measuredMs, parts);
  return name === 'killed' ? { ...traffic, away: { fromMs: WARM_MS, toMs: WARM_MS + AWAY_MS } } : traffic;
}

function skewOf(nodes: number): number[] {
  if (nodes === 1) return [1];
  return Array.from({ length: nodes }, (_, node) => (node === 0 ? SKEW : (1 - SKEW) / (nodes - 1)));
}

/** Poisson arrivals, of each node its own. */
function even(
  name: TrafficName,
  { perSecond, seed }: TrafficOptions,
  warmMs: number,
  measuredMs: number,
  parts: readonly number[],
): Traffic {
  const endsMs = warmMs + measuredMs;
  const dueMs = parts.map((part, node) => {
    const random = Random.stream(seed, `${name} ${node}`);
    const meanMs = SECOND_MS / (WANTED * perSecond * part);
    const due: number[] = [];
    for (let atMs = random.exponential(meanMs); atMs < endsMs; atMs += random.exponential(meanMs)) due.push(atMs);
    return Float64Array.from(due);
  });
  return { name, dueMs, measuredFromMs: warmMs, endsMs, away: null, bursts: [] };
}

/**
 * The whole trace, so fast that its mean is ten ninths of the quota; each row stands for as many requests as that takes
 * in the time that there is, each at a node drawn for it. Its first row comes after a rest.
 */
async function ofTrace(
  { perSecond, nodes, seed, traceFile, traceTime }: TrafficOptions,
  measuredMs: number,
): Promise<Traffic> {
  const options = { timeFormat: 'auto', messages: '1', bytes: '0', delimiter: ',', time: traceTime } as const;
  const rowsMs: number[] = [];
  for await (const { atMs } of readTrace(createReadStream(traceFile), traceFile, {
    ...options,
    speed: 1000,
    nodes: 1,
    by: 'round-robin',
  })) {
    rowsMs.push(atMs);
  }
  const copies = Math.max(1, Math.round((TRACE_WANTED * perSecond * measuredMs) / SECOND_MS / rowsMs.length));
  const lastsMs = (rowsMs.length * copies * SECOND_MS) / (TRACE_WANTED * perSecond);
  const scale = lastsMs / (rowsMs.at(-1) as number);
  const random = Random.stream(seed, 'trace');
  const due = Array.from({ length: nodes }, (): number[] => []);
  for (const rowMs of rowsMs) {
    for (let copy = 0; copy < copies; copy++) due[Math.floor(random.next() * nodes)]?.push(REST_MS + rowMs * scale);
  }
  return {
    name: 'trace',
    dueMs: due.map((each) => Float64Array.from(each)),
    measuredFromMs: REST_MS,
    endsMs: REST_MS + lastsMs,
    away: null,
    bursts: [],
  };
}

/** After a rest three seconds' quota at once at one node; after another as much, divided over all nodes. */
function ofBursts({ perSecond, nodes }: TrafficOptions): Traffic {
  const requests = BURST_SECONDS * perSecond;
  const each = Math.round(requests / nodes);
  const [first, second] = [REST_MS, 2 * REST_MS];
  const dueMs = Array.from({ length: nodes }, (_, node) => {
    const own = new Float64Array((node === 0 ? requests : 0) + each).fill(second);
    return node === 0 ? own.fill(first, 0, requests) : own;
  });
  const bursts = [
    { atMs: first, nodes: 1 },
    { atMs: second, nodes },
  ];
  return { name: 'bursts', dueMs, measuredFromMs: first, endsMs: second + 2 * SECOND_MS, away: null, bursts };
}

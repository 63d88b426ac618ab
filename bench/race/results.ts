import type { Contender, Limit } from './contender.js';
import { type BurstFigures, burstFigures, type Figures, figuresOf, type Span, seriesOf } from './figures.js';
import type { Run } from './run-contender.js';
import type { TrafficName } from './traffic.js';

/** What is kept of a race: pages are written from it alone. */
export interface Results {
  readonly limit: Limit;
  readonly contenders: readonly ContenderResult[];
}

export interface ContenderResult {
  readonly name: string;
  readonly burst: string;
  /** Date, machine and command of its run. */
  readonly ran: string;
  /** Why it could not run; null = it has. */
  readonly failure: string | null;
  readonly traffics: readonly TrafficResult[];
}

export interface TrafficResult {
  readonly name: TrafficName;
  readonly seconds: number;
  readonly whole: Figures;
  readonly bursts: readonly BurstFigures[];
  /** While the store was away, and from a second after its return; null where none was killed. */
  readonly away: Figures | null;
  readonly back: Figures | null;
  readonly cpuMicrosPerRequest: number | null;
  /** For the plots, whole numbers. */
  readonly series: { readonly stepMs: number; readonly perSecond: readonly number[] };
  /** From the beginning of the series to what is measured. */
  readonly measuredFromMs: number;
  readonly awayMs: Span | null;
}

/** Connections that are made anew are no part of how a limiter divides. */
const RETURN_MS = 1000;

export function resultOf({ traffic, nodes, cpuMicros }: Run, limit: Limit, contender: Contender): TrafficResult {
  const { name, measuredFromMs, endsMs, away } = traffic;
  const asked = nodes.reduce((sum, { dueMs }) => sum + dueMs.length, 0);
  return {
    name,
    seconds: (endsMs - measuredFromMs) / 1000,
    whole: figuresOf(nodes, limit, { fromMs: measuredFromMs, toMs: endsMs }),
    bursts: burstFigures(nodes, limit, traffic, contender),
    away: away && figuresOf(nodes, limit, away),
    back: away && figuresOf(nodes, limit, { fromMs: away.toMs + RETURN_MS, toMs: endsMs }),
    cpuMicrosPerRequest: cpuMicros === null ? null : cpuMicros / asked,
    series: seriesOf(nodes, endsMs),
    measuredFromMs,
    awayMs: away,
  };
}

/** A later run of a part takes the seat of what was there; the order is that of the list. */
export function merged(before: Results | null, limit: Limit, ran: readonly ContenderResult[]): Results {
  const known = new Map((before?.contenders ?? []).map((each) => [each.name, each]));
  for (const one of ran) {
    const traffics = new Map((known.get(one.name)?.traffics ?? []).map((each) => [each.name, each]));
    for (const traffic of one.traffics) traffics.set(traffic.name, traffic);
    known.set(one.name, { ...one, traffics: [...traffics.values()] });
  }
  return { limit, contenders: [...known.values()] };
}

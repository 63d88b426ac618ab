import { isDeepStrictEqual } from 'node:util';
import type { DeploysResult } from '../deploys/document.js';
import type { Contender, Limit } from './contender.js';
import { type BurstFigures, burstFigures, type Figures, figuresOf, type Span, seriesOf } from './figures.js';
import type { Run } from './run-contender.js';
import type { TrafficName } from './traffic.js';

/** What is kept of a race: pages are written from it alone. */
export interface Results {
  readonly setup: Setup;
  readonly contenders: readonly ContenderResult[];
  /** Rows of `npm run bench:deploys`; absent = it has not run. */
  readonly deploys?: readonly DeploysResult[];
}

/** What all runs of one page have in common. */
export interface Setup {
  readonly limit: Limit;
  readonly machine: string;
  readonly seed: number;
}

export interface ContenderResult {
  readonly name: string;
  readonly burst: string;
  /** Why it could not run; null = it has. */
  readonly failure: string | null;
  readonly traffics: readonly TrafficResult[];
}

export interface TrafficResult {
  readonly name: TrafficName;
  /** When, of which commit, and how busy the machine was. */
  readonly ran: string;
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

export function resultOf(
  { traffic, nodes, cpuMicros }: Run,
  limit: Limit,
  contender: Contender,
  ran: string,
): TrafficResult {
  const { name, measuredFromMs, endsMs, away } = traffic;
  const asked = nodes.reduce((sum, { dueMs }) => sum + dueMs.length, 0);
  return {
    name,
    ran,
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

/**
 * A later run of a part takes the seat of what was there; who is new comes last. Throws where what was there is of
 * another setup: rows of two limits are no race.
 */
export function merged(before: Results | null, setup: Setup, ran: readonly ContenderResult[]): Results {
  if (before !== null && !isDeepStrictEqual(before.setup, setup)) {
    throw new Error(`the kept results are of ${JSON.stringify(before.setup)}, these of ${JSON.stringify(setup)}`);
  }
  const known = new Map((before?.contenders ?? []).map((each) => [each.name, each]));
  for (const one of ran) {
    const traffics = new Map((known.get(one.name)?.traffics ?? []).map((each) => [each.name, each]));
    for (const traffic of one.traffics) traffics.set(traffic.name, traffic);
    known.set(one.name, { ...one, traffics: [...traffics.values()] });
  }
  return { ...before, setup, contenders: [...known.values()] };
}

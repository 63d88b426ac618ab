import type { Reader } from '../cluster/cluster-under-test.js';
import type { Load, LoadOf } from '../scenario/load-kinds.js';
import type { Happening, Scenario } from '../scenario/scenario.js';
import { clipped, type RateProfile, scaledFrom } from './rate-profile.js';

/** Work arriving at one node, admitted or not. */
export interface ArrivalStream {
  readonly id: string;
  /** Index of the node. */
  readonly node: number;
  readonly profile: RateProfile;
  readonly evenly: boolean;
  /** Pieces per arrival. */
  readonly size: number;
  readonly piece: Piece;
  readonly retries: number;
  readonly retryAfterMs: number;
  /** Reader that fetches an arrival at once; null = one by one. */
  readonly reader: Reader | null;
}

export interface ClientPool extends Pick<ArrivalStream, 'id' | 'node' | 'piece'> {
  readonly count: number;
  readonly thinkMs: number;
  readonly retryMs: number;
  readonly fromMs: number;
  readonly untilMs: number;
  /** Rate of requests without refusals: count ÷ pause. */
  readonly profile: RateProfile;
}

export interface Piece {
  readonly messages: number;
  readonly leastBytes: number;
  readonly mostBytes: number;
}

/** Returns a stream per open load and node. */
export function arrivalStreams(scenario: Scenario): readonly ArrivalStream[] {
  return scenario.loads.flatMap((load, at) => {
    if (load.kind === 'clients') return [];
    return load.nodes.map((node, index): ArrivalStream => {
      const { values, kind } = load;
      const [fromMs, untilMs] = spanOf(load, scenario.durationMs);
      const profile = clipped(profileOf(load, index, untilMs), fromMs, untilMs);
      return {
        id: `load ${at} ${node}`,
        node: scenario.nodes.indexOf(node),
        profile: withChanges(profile, node, scenario.happenings),
        evenly: kind === 'constant' || 'size' in values,
        size: 'size' in values ? values.size : 1,
        piece: pieceOf(load),
        retries: 'retries' in values ? values.retries : 0,
        retryAfterMs: 'retryAfterMs' in values ? values.retryAfterMs : 0,
        reader: 'reader' in values ? values.reader : null,
      };
    });
  });
}

export function clientPools(scenario: Scenario): readonly ClientPool[] {
  return scenario.loads.flatMap((load, at) => {
    if (load.kind !== 'clients') return [];
    return load.nodes.map((node): ClientPool => {
      const { count, thinkMs, retryMs } = load.values;
      const [fromMs, untilMs] = spanOf(load, scenario.durationMs);
      const rate = (count * 1000) / thinkMs;
      return {
        id: `load ${at} ${node}`,
        node: scenario.nodes.indexOf(node),
        count,
        thinkMs,
        retryMs,
        fromMs,
        untilMs,
        piece: pieceOf(load),
        profile: clipped({ atMs: [0], rate: [rate] }, fromMs, untilMs),
      };
    });
  });
}

/** Milliseconds of a ramp's step. */
const RAMP_STEP_MS = 100;

type OpenLoad = Exclude<Load, LoadOf<'clients'>>;

/** Returns the rate at the load's `index`-th node. */
function profileOf(load: OpenLoad, index: number, untilMs: number): RateProfile {
  switch (load.kind) {
    case 'constant':
    case 'poisson':
      return flat(load.values.ratePerSecond);
    case 'batches':
    case 'bursts':
      return flat(load.values.size / load.values.everySeconds);
    case 'zipf':
      return zipf(load, index);
    case 'onOff':
      return onOff(load, untilMs);
    case 'steps':
      return { atMs: load.values.steps.map(([at]) => at * 1000), rate: load.values.steps.map(([, rate]) => rate) };
    case 'ramp':
      return ramp(load);
  }
}

function zipf({ values: { ratePerSecond, exponent }, nodes }: LoadOf<'zipf'>, index: number): RateProfile {
  const total = nodes.reduce((sum, _, at) => sum + zipfPart(at, exponent), 0);
  return flat((ratePerSecond * zipfPart(index, exponent)) / total);
}

function zipfPart(index: number, exponent: number): number {
  return 1 / (index + 1) ** exponent;
}

function onOff({ values }: LoadOf<'onOff'>, untilMs: number): RateProfile {
  const [onMs, offMs] = [1000 * values.onSeconds, 1000 * values.offSeconds];
  const fromMs = 1000 * values.fromSeconds;
  const count = Math.ceil((untilMs - fromMs) / (onMs + offMs));
  const starts = Array.from({ length: count }, (_, at) => fromMs + at * (onMs + offMs));
  return { atMs: starts.flatMap((at) => [at, at + onMs]), rate: starts.flatMap(() => [values.ratePerSecond, 0]) };
}

function ramp({ values: { fromPerSecond, toPerSecond, fromSeconds, overSeconds } }: LoadOf<'ramp'>): RateProfile {
  const fromMs = 1000 * fromSeconds;
  const count = Math.max(1, Math.round((1000 * overSeconds) / RAMP_STEP_MS));
  const at = Array.from({ length: count + 1 }, (_, step) => step);
  return {
    atMs: at.map((step) => fromMs + step * RAMP_STEP_MS),
    rate: at.map((step) => fromPerSecond + ((toPerSecond - fromPerSecond) * step) / count),
  };
}

function flat(rate: number): RateProfile {
  return { atMs: [0], rate: [rate] };
}

function spanOf({ values }: Load, durationMs: number): readonly [number, number] {
  const untilMs = values.untilSeconds === null ? durationMs : 1000 * values.untilSeconds;
  return [1000 * values.fromSeconds, Math.min(durationMs, untilMs)];
}

function pieceOf({ values }: Load): Piece {
  if (!('messages' in values)) return { messages: 1, leastBytes: 0, mostBytes: 0 };
  const [leastBytes, mostBytes] = values.bytes;
  return { messages: values.messages, leastBytes, mostBytes };
}

function withChanges(profile: RateProfile, node: string, happenings: readonly Happening[]): RateProfile {
  return happenings
    .filter(({ what, nodes }) => what === 'rate' && nodes.includes(node))
    .reduce((changed, { atMs, values }) => scaledFrom(changed, atMs, values.factor as number), profile);
}

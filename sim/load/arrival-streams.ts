import type { Reader } from '../cluster/cluster-under-test.js';
import type { Happening, Load, Scenario } from '../scenario/scenario.js';
import { clipped, type RateProfile, scaledFrom } from './rate-profile.js';

/** Work that arrives at one node, whatever becomes of it. */
export interface ArrivalStream {
  /** Names its random stream. */
  readonly id: string;
  /** Index of the node. */
  readonly node: number;
  readonly profile: RateProfile;
  readonly evenly: boolean;
  /** Pieces that arrive at once. */
  readonly size: number;
  readonly piece: Piece;
  readonly retries: number;
  readonly retryAfterMs: number;
  /** All that arrives at once is one fetch of such a reader; null = pieces of work. */
  readonly reader: Reader | null;
}

/** Clients at one node, each with one piece at a time. */
export interface ClientPool {
  readonly id: string;
  readonly node: number;
  readonly count: number;
  readonly thinkMs: number;
  readonly retryMs: number;
  readonly fromMs: number;
  readonly untilMs: number;
  readonly piece: Piece;
  /** What they would ask for if nobody refused them: count ÷ pause. */
  readonly profile: RateProfile;
}

export interface Piece {
  readonly messages: number;
  readonly leastBytes: number;
  readonly mostBytes: number;
}

/** All open loads of a scenario, a stream per load and node. */
export function arrivalStreams(scenario: Scenario): readonly ArrivalStream[] {
  return scenario.loads.flatMap((load, at) => {
    if (load.kind === 'clients') return [];
    return load.nodes.map((node, index): ArrivalStream => {
      const { values, kind } = load;
      const [fromMs, untilMs] = spanOf(load, scenario.durationMs);
      const profile = clipped(PROFILES[kind]!(load, index, untilMs), fromMs, untilMs);
      return {
        id: `load ${at} ${node}`,
        node: scenario.nodes.indexOf(node),
        profile: withChanges(profile, node, scenario.happenings),
        evenly: kind === 'constant' || isClumped(kind),
        size: isClumped(kind) ? (values.size as number) : 1,
        piece: pieceOf(load),
        retries: (values.retries as number | undefined) ?? 0,
        retryAfterMs: (values.retryAfterMs as number | undefined) ?? 0,
        reader: (values.reader as Reader | undefined) ?? null,
      };
    });
  });
}

export function clientPools(scenario: Scenario): readonly ClientPool[] {
  return scenario.loads.flatMap((load, at) => {
    if (load.kind !== 'clients') return [];
    return load.nodes.map((node): ClientPool => {
      const { count, thinkMs, retryMs } = load.values as Readonly<Record<'count' | 'thinkMs' | 'retryMs', number>>;
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

/** Step of a ramp. */
const RAMP_STEP_MS = 100;

type ProfileOf = (load: Load, index: number, untilMs: number) => RateProfile;

const PROFILES: Readonly<Record<string, ProfileOf>> = {
  constant: ({ values }) => flat(values.ratePerSecond as number),
  poisson: ({ values }) => flat(values.ratePerSecond as number),
  batches: ({ values }) => flat((values.size as number) / (values.everySeconds as number)),
  bursts: ({ values }) => flat((values.size as number) / (values.everySeconds as number)),
  zipf: ({ values, nodes }, index) => {
    const parts = nodes.map((_, at) => 1 / (at + 1) ** (values.exponent as number));
    const total = parts.reduce((sum, part) => sum + part, 0);
    return flat(((values.ratePerSecond as number) * (parts[index] as number)) / total);
  },
  onOff: ({ values }, _index, untilMs) => {
    const [onMs, offMs] = [1000 * (values.onSeconds as number), 1000 * (values.offSeconds as number)];
    const fromMs = 1000 * (values.fromSeconds as number);
    const count = Math.ceil((untilMs - fromMs) / (onMs + offMs));
    const starts = Array.from({ length: count }, (_, at) => fromMs + at * (onMs + offMs));
    return {
      atMs: starts.flatMap((at) => [at, at + onMs]),
      rate: starts.flatMap(() => [values.ratePerSecond as number, 0]),
    };
  },
  steps: ({ values }) => {
    const steps = values.steps as readonly (readonly [number, number])[];
    return { atMs: steps.map(([at]) => at * 1000), rate: steps.map(([, rate]) => rate) };
  },
  ramp: ({ values }) => {
    const [from, to] = [values.fromPerSecond as number, values.toPerSecond as number];
    const fromMs = 1000 * (values.fromSeconds as number);
    const count = Math.max(1, Math.round((1000 * (values.overSeconds as number)) / RAMP_STEP_MS));
    const at = Array.from({ length: count + 1 }, (_, step) => step);
    return {
      atMs: at.map((step) => fromMs + step * RAMP_STEP_MS),
      rate: at.map((step) => from + ((to - from) * step) / count),
    };
  },
};

function isClumped(kind: string): boolean {
  return kind === 'bursts' || kind === 'batches';
}

function flat(rate: number): RateProfile {
  return { atMs: [0], rate: [rate] };
}

function spanOf({ values }: Load, durationMs: number): readonly [number, number] {
  const untilMs = values.untilSeconds === null ? durationMs : 1000 * (values.untilSeconds as number);
  return [1000 * (values.fromSeconds as number), Math.min(durationMs, untilMs)];
}

function pieceOf({ values }: Load): Piece {
  const [leastBytes, mostBytes] = (values.bytes as readonly [number, number] | undefined) ?? [0, 0];
  return { messages: (values.messages as number | undefined) ?? 1, leastBytes, mostBytes };
}

function withChanges(profile: RateProfile, node: string, happenings: readonly Happening[]): RateProfile {
  return happenings
    .filter(({ what, nodes }) => what === 'rate' && nodes.includes(node))
    .reduce((changed, { atMs, values }) => scaledFrom(changed, atMs, values.factor as number), profile);
}

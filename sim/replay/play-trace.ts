import type { GroupSettings } from '../../src/core/base/settings.js';
import type { Rates } from '../../src/core/base/vocabulary.js';
import type { TopicDelays } from '../cluster/simulated-topic.js';
import type { WorldSettings } from '../cluster/world.js';
import { Player } from './player.js';
import type { ReplayedSystem } from './replayed-system.js';
import type { TraceArrival } from './trace.js';
import type { TraceRun } from './trace-run.js';

export interface ReplayOptions {
  readonly name: string;
  readonly systems: readonly ReplayedSystem[];
  readonly nodes: number;
  readonly seed: number;
  /** Units/s of the file, per key; Infinity = unlimited. */
  readonly quota: readonly [messages: number, bytes: number];
  /** Windows of stores, ms of the nodes; absent = a second. */
  readonly quotaPerMs?: readonly [messages: number, bytes: number];
  /** Seconds of the file per second of the nodes. */
  readonly speed: number;
  /** Most retries of refused work. */
  readonly retries?: number;
  readonly isPerKey?: boolean;
  readonly settings: WorldSettings;
  /** Delays of records; absent = a broker on this machine. */
  readonly delays?: TopicDelays;
  /** Largest request at our nodes. */
  readonly maxRequest: Rates;
  /** Called once per 10,000 arrivals. */
  readonly onProgress?: (arrivals: number, playedMs: number) => void;
}

const PROGRESS_EVERY = 10_000;

/** Plays one stream on all systems at once: in virtual times, with bounded memory. */
export async function playTrace(arrivals: AsyncIterable<TraceArrival>, options: ReplayOptions): Promise<TraceRun[]> {
  const groups = options.settings.groups.map((group) => groupAtSpeed(group, options.speed));
  const settings = { ...options.settings, groups };
  const players = options.systems.map((system) => new Player(system, { ...options, settings }));
  let count = 0;
  let playedMs = 0;
  for await (const arrival of arrivals) {
    for (const player of players) player.play(arrival);
    playedMs = arrival.atMs;
    if (++count % PROGRESS_EVERY === 0) options.onProgress?.(count, playedMs);
  }
  const endMs = Math.max(...players.map((player) => player.finish(playedMs)));
  return players.map((player) => player.result(endMs));
}

/** Scales rates to the nodes' time; bursts stay. */
function groupAtSpeed(group: GroupSettings, speed: number): GroupSettings {
  const { ramp, cost } = group;
  const faster = ({ total, reserved }: GroupSettings['cost']['publish']) => ({
    total: total * speed,
    reserved: reserved * speed,
  });
  return {
    ...group,
    cost: { publish: faster(cost.publish), dispatch: faster(cost.dispatch) },
    ramp: ramp && {
      ...ramp,
      fromPerSecond: ramp.fromPerSecond * speed,
      toPerSecond: ramp.toPerSecond === null ? null : ramp.toPerSecond * speed,
    },
  };
}

import type { GroupSettings } from '../../src/core/base/settings.js';
import type { Rates } from '../../src/core/base/vocabulary.js';
import type { TopicDelays } from '../cluster/simulated-topic.js';
import type { WorldSettings } from '../cluster/world.js';
import { Player } from './player.js';
import type { ReplayedSystem } from './replayed-system.js';
import type { TraceArrival } from './trace.js';
import type { TraceRun } from './trace-run.js';

export interface ReplayOptions {
  /** For titles. */
  readonly name: string;
  readonly systems: readonly ReplayedSystem[];
  readonly nodes: number;
  readonly seed: number;
  /** Units per second of the file, of every key; Infinity = unlimited. */
  readonly quota: readonly [messages: number, bytes: number];
  /** The windows of stores that count windows, milliseconds of the nodes; absent = a second. */
  readonly quotaPerMs?: readonly [messages: number, bytes: number];
  /** Seconds of the file to one of the nodes: rates are those of the file, the nodes' own times are theirs. */
  readonly speed: number;
  /** How often work that is refused asks again at most. */
  readonly retries?: number;
  /** Every key of the arrivals has a quota of its own. */
  readonly isPerKey?: boolean;
  readonly settings: WorldSettings;
  /** How long records take; absent = as with a broker on the same machine. */
  readonly delays?: TopicDelays;
  /** What a node of ours takes in one request. */
  readonly maxRequest: Rates;
  /** Told about once per 10,000 arrivals. */
  readonly onProgress?: (arrivals: number, playedMs: number) => void;
}

const PROGRESS_EVERY = 10_000;

/**
 * Plays one stream of arrivals on every system at once, each in a virtual time of its own, and needs no more memory
 * for a long one than for a short one.
 */
export async function playTrace(arrivals: AsyncIterable<TraceArrival>, options: ReplayOptions): Promise<TraceRun[]> {
  const settings = atSpeed(options.settings, options.speed);
  const players = options.systems.map((system) => new Player(system, { ...options, settings }));
  let count = 0;
  let playedMs = 0;
  for await (const arrival of arrivals) {
    for (const player of players) player.play(arrival);
    playedMs = arrival.atMs;
    if (++count % PROGRESS_EVERY === 0) options.onProgress?.(count, playedMs);
  }
  // All columns are of one length, whoever answers last.
  const endMs = Math.max(...players.map((player) => player.finish(playedMs)));
  return players.map((player) => player.result(endMs));
}

/** The rates of settings, too, are those of the file; a burst has the units that it has there. */
function atSpeed(settings: WorldSettings, speed: number): WorldSettings {
  return { ...settings, groups: settings.groups.map((group) => groupAtSpeed(group, speed)) };
}

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

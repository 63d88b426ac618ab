import type { GroupSettings } from '../src/core/base/settings.js';
import { admittedRate, worstSpan } from './cluster/measure.js';
import { World, type WorldSettings } from './cluster/world.js';

export const AWAY = { fromMs: 10_000, toMs: 50_000, endMs: 60_000 } as const;
/** Wanted by three nodes, 1,400/s together. */
export const WANTED = { a: 1000, b: 300, c: 100 } as const;

/** Scope of the outage: everybody, or node b, whose part node a wants. */
export type AwayFor = 'everybody' | 'one node';

type Isolation = GroupSettings['isolation'];

interface AwayRun {
  /** Admitted by all per second. */
  readonly perSecond: readonly number[];
  readonly before: number;
  readonly held: number;
  readonly policy: number;
  readonly after: number;
  readonly worst: number;
  /** Seconds from the return to 98 % of the quota. */
  readonly backSeconds: number;
}

/**
 * Plays an outage of 40 s under an isolation policy. scripts/docs draws it for docs/operate/when-the-topic-is-away.md.
 * Uses the first group.
 */
export function playTopicAway(settings: WorldSettings, isolation: Isolation, awayFor: AwayFor): AwayRun {
  const [group, ...others] = settings.groups;
  const world = new World(7, { ...settings, groups: [{ ...group, isolation }, ...others] });
  for (const [node, rate] of Object.entries(WANTED)) {
    world.start(node);
    world.drive({ node, ratePerSecond: () => rate, evenly: true });
  }
  world.queue.after(AWAY.fromMs, () => setAway(world, awayFor, true));
  world.queue.after(AWAY.toMs, () => setAway(world, awayFor, false));
  world.runFor(AWAY.endMs);
  return measured(world, group.quota.publish[0], settings.stalenessMs + isolation.holdMs);
}

function setAway(world: World, awayFor: AwayFor, isAway: boolean): void {
  if (awayFor === 'everybody') world.topic.isAway = isAway;
  else world.node('b').cutOff(isAway);
}

function measured({ arrivals }: World, quota: number, noticedMs: number): AwayRun {
  const rate = (fromMs: number, toMs: number) => admittedRate(arrivals, fromMs, toMs);
  const perSecond = Array.from({ length: AWAY.endMs / 1000 }, (_, second) => rate(second * 1000, second * 1000 + 1000));
  const back = perSecond.findIndex((admitted, second) => second * 1000 >= AWAY.toMs && admitted >= quota * 0.98);
  return {
    perSecond,
    before: rate(5000, AWAY.fromMs),
    held: rate(AWAY.fromMs + 6000, AWAY.fromMs + 9000),
    policy: rate(AWAY.fromMs + noticedMs, AWAY.toMs),
    after: rate(AWAY.toMs + 2000, AWAY.endMs),
    worst: worstSpan(arrivals, 1000, AWAY.fromMs, AWAY.endMs),
    backSeconds: back === -1 ? Infinity : back + 1 - AWAY.toMs / 1000,
  };
}

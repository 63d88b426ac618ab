import { backendIdOf } from '../../src/core/base/ids.js';
import type { GroupSettings } from '../../src/core/base/settings.js';
import { UNLIMITED } from '../../src/core/base/vocabulary.js';
import { World } from '../cluster/world.js';
import { defaultSettings } from '../scenario/world-settings.js';

const QUOTA = 1000;
const NODES = 10;
const ACTORS_PER_NODE = 10;
const PER_ACTOR = 4;
const READS = 5;
const WARM_UP_SEC = 10;
/** Seconds, as the source's. */
const MEASURED_SEC = 1200;

/**
 * Plays FoundationDB's ThroughputQuota, "ExpectStableThroughput": 100 actors of 4 transactions/s with 5 one-page reads,
 * quota 1,000 pages/s. Returns admitted ÷ quota over 20 minutes after 10 s; the source allows 0.7 … 1.3. Here ten nodes
 * of ten actors, at random.
 */
export function stableThroughput(strategy: string, measuredSec = MEASURED_SEC): number {
  const defaults = defaultSettings();
  const none = { total: Infinity, reserved: 0 };
  const group: GroupSettings = {
    ...defaults.groups[0],
    strategy,
    quota: { publish: UNLIMITED, dispatch: UNLIMITED },
    cost: { publish: { total: QUOTA, reserved: 0 }, dispatch: none },
  };
  const world = new World(1, { ...defaults, groups: [group] });
  let pages = 0;
  for (let at = 0; at < NODES; at++) {
    const node = world.start(`n${at + 1}`);
    const gap = () => world.random.exponential(1000 / (ACTORS_PER_NODE * PER_ACTOR));
    const transact = () => {
      world.queue.after(gap(), transact);
      if (!node.tryAcquire(0, 1, 0)) return;
      pages += READS;
      for (let read = 0; read < READS; read++) {
        const backend = backendIdOf(defaults.cluster, `shard-${read}`);
        node.coordinator.costs.report(0, backend, 1, read === 0 ? 1 : 0, node.nowMs);
      }
    };
    world.queue.after(gap(), transact);
  }
  world.runFor(WARM_UP_SEC * 1000);
  const before = pages;
  world.runFor(measuredSec * 1000);
  return (pages - before) / measuredSec / QUOTA;
}

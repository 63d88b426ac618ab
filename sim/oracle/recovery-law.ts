import { SOON_MS } from '../../src/core/report/constants/constants.js';
import type { SimulatedNode } from '../cluster/simulated-node.js';
import type { World } from '../cluster/world.js';

/** Milliseconds of a record's way without faults. */
const ON_THE_WAY_MS = 1000;

type Fail = (about: string, says: string) => void;

/** Checks each name: one deciding, linked process that knows all others and no more. */
export function checkRecovered(world: World, nodes: readonly string[], fail: Fail): void {
  const all = [...nodes].sort().join(' ');
  for (const name of nodes) {
    const serving = world.serving(name);
    if (serving.length !== 1) fail(name, `${serving.length} processes serve under this name`);
    for (const process of serving) checkProcess(process, name, all, fail);
  }
}

function checkProcess({ coordinator }: SimulatedNode, name: string, all: string, fail: Fail): void {
  if (!coordinator.isReady) {
    fail(name, `is ${coordinator.phase}`);
    return;
  }
  coordinator.log.logTimes.forEach((_, partition) => {
    const { members } = coordinator.membership.on(partition);
    const known = members.map(({ nodeId }) => nodeId).sort();
    if (known.join(' ') !== all) fail(name, `knows ${known.join(' ')} on partition ${partition}`);
  });
  const isolated = coordinator.link.isolatedPartitions;
  if (isolated.length > 0) fail(name, `does not hear itself on partitions ${isolated.join(' ')}`);
  const hiddenMs = coordinator.hiddenCeilings.longestMs;
  if (
    hiddenMs >
    coordinator.settings.partitionHeartbeatMs + coordinator.membership.aliveCount * SOON_MS + ON_THE_WAY_MS
  ) {
    fail(name, `knows a ceiling that newcomers have not found for ${hiddenMs} ms`);
  }
}

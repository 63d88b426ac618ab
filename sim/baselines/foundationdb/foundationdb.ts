import type { Baseline } from '../baseline.js';
import { BaselineCluster } from '../baseline-cluster.js';
import { MessageBus } from '../message-bus.js';
import type { SimulatedProcess } from '../simulated-process.js';
import { LimitedNode } from './limited-node.js';
import { type HandOut, Ratekeeper, type RateMessage } from './ratekeeper.js';
import { ClientWindow, ProxyWindow, type ReleaseWindow } from './release-windows.js';

export const FDB_CLIENT = throttled('client', 'one limit for all, moved until the total fits', ClientWindow);

/** Gives each proxy an equal part, whatever its demand. */
export const FDB_PROXY = throttled('proxy', 'the smoothed target in equal parts', ProxyWindow);

function throttled(handOut: HandOut, says: string, Window: new () => ReleaseWindow): Baseline {
  const name = `fdb-${handOut}`;
  return {
    name,
    says: `FoundationDB, ${handOut} mode: ${says}`,
    create: (environment) => {
      const bus = new MessageBus<RateMessage>(environment);
      const ratekeeper = new Ratekeeper(environment, bus, handOut);
      const create = (process: SimulatedProcess) => new LimitedNode(process, bus, new Window(), environment);
      return new BaselineCluster(name, environment, bus, create, (quota) => ratekeeper.setQuota(quota));
    },
  };
}

import type { Baseline } from '../baseline.js';
import { BaselineCluster } from '../baseline-cluster.js';
import { MessageBus } from '../message-bus.js';
import type { SimulatedProcess } from '../simulated-process.js';
import { LimitedNode } from './limited-node.js';
import { type HandOut, Ratekeeper, type RateMessage } from './ratekeeper.js';
import { ClientWindow, ProxyWindow, type ReleaseWindow } from './release-windows.js';

export const FDB_CLIENT = throttled(
  'fdb-client',
  'FoundationDB, client mode: one limit for all, moved until the total fits',
  'client',
  () => new ClientWindow(),
);

/** Gives each proxy an equal part, whatever its demand. */
export const FDB_PROXY = throttled(
  'fdb-proxy',
  'FoundationDB, proxy mode: the smoothed target in equal parts',
  'proxy',
  () => new ProxyWindow(),
);

function throttled(name: string, says: string, handOut: HandOut, windowOf: () => ReleaseWindow): Baseline {
  return {
    name,
    says,
    create: (environment) => {
      const bus = new MessageBus<RateMessage>(environment);
      const ratekeeper = new Ratekeeper(environment, bus, handOut);
      const create = (process: SimulatedProcess) => new LimitedNode(process, bus, windowOf(), environment);
      return new BaselineCluster(name, environment, bus, create, (quota) => ratekeeper.setQuota(quota));
    },
  };
}

import { freePorts } from '../../src/tools/processes/free-ports.js';
import { Cluster } from '../cluster/cluster.js';
import type { WrittenGroup } from '../written-settings.js';
import { type Envoy, startEnvoy } from './envoy.js';
import type { FrontProxy } from './front-proxy.js';

type WhatProxies = Omit<FrontProxy, 'nodes'>;

/** Node processes that listen for Envoy, on an embedded topic, and the Envoys in front of them. */
export class EnvoyCluster {
  readonly cluster: Cluster;
  readonly envoys: Envoy[] = [];
  readonly #ports: ReadonlyMap<string, number>;

  private constructor(cluster: Cluster, ports: ReadonlyMap<string, number>) {
    this.cluster = cluster;
    this.#ports = ports;
  }

  /** @param settings of `envoy`, the same for all nodes */
  static async start(
    ids: readonly string[],
    groups: Record<string, WrittenGroup>,
    settings: object = {},
  ): Promise<EnvoyCluster> {
    const free = await freePorts(ids.length);
    const ports = new Map(ids.map((id, at) => [id, free[at] as number]));
    const listening = [...ports].map(([id, port]) => {
      return [id, { envoy: { listen: `127.0.0.1:${port}`, ...settings } }] as const;
    });
    const settingsOf = Object.fromEntries(listening);
    const cluster = await Cluster.create({ topic: 'embedded', nodeSettings: { groups }, settingsOf });
    await cluster.start(...ids);
    return new EnvoyCluster(cluster, ports);
  }

  /** Port at which a node listens for Envoy. */
  portOf(id: string): number {
    return this.#ports.get(id) as number;
  }

  /** Starts an Envoy that asks the first of these nodes that answers. */
  async envoy(ids: readonly string[], proxy: WhatProxies): Promise<Envoy> {
    const envoy = await startEnvoy({ ...proxy, nodes: ids.map((id) => this.portOf(id)) });
    this.envoys.push(envoy);
    return envoy;
  }

  async stop(): Promise<void> {
    await Promise.all(this.envoys.map((envoy) => envoy.stop()));
    await this.cluster.stop();
  }
}

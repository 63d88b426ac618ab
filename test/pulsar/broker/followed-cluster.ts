import { mkdtempSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts } from '../../../src/tools/processes/free-ports.js';
import { type CliProcess, CliScene } from '../../unit/cli/cli-process.js';
import type { WrittenGroup } from '../../written-settings.js';
import { builtPlugin } from './built-plugin.js';
import { type PulsarBroker, PulsarCluster } from './pulsar-cluster.js';

const TOPICS = Array.from({ length: 24 }, (_, at) => `t${at + 1}`);

type BrokerSettings = Readonly<Record<string, string | number>>;

/** Two brokers with the plugin, each beside a node of its own: the one over its Unix socket, the other over TCP. */
export class FollowedCluster {
  readonly pulsar: PulsarCluster;
  readonly nodes: CliProcess[] = [];
  readonly #scene: CliScene;
  readonly #files: readonly string[];

  private constructor(pulsar: PulsarCluster, scene: CliScene, files: readonly string[]) {
    this.pulsar = pulsar;
    this.#scene = scene;
    this.#files = files;
  }

  static async start(
    onEnd: (end: () => void | Promise<void>) => unknown,
    settings: BrokerSettings | ((broker: number) => BrokerSettings) = {},
    groups: Readonly<Record<string, WrittenGroup>> = {},
  ): Promise<FollowedCluster> {
    const folder = mkdtempSync(join(tmpdir(), 'quotamesh-nodes-'));
    onEnd(() => rm(folder, { recursive: true, force: true }));
    const [port = 0] = await freePorts(1);
    const socket = join(folder, 'node-1.sock');
    const topic = { kind: 'embedded', path: join(folder, 'log') };
    const files = [{ socket }, { port }].map((http, at) => {
      const file = join(folder, `node-${at + 1}.yaml`);
      writeFileSync(file, JSON.stringify({ cluster: 'pulsar', topic, http, groups }));
      return file;
    });
    const nodes = [`unix:${socket}`, `http://127.0.0.1:${port}`];
    const plugin = await builtPlugin();
    const pulsar = await PulsarCluster.start({
      brokers: 2,
      settings: (broker) => ({
        brokerInterceptorsDirectory: plugin,
        brokerInterceptors: 'quotamesh',
        quotameshNode: nodes[broker],
        quotameshName: `broker-${broker + 1}`,
        resourceUsageTransportPublishIntervalInSecs: 86_400,
        ...(typeof settings === 'function' ? settings(broker) : settings),
      }),
    });
    onEnd(() => pulsar.stop());
    const cluster = new FollowedCluster(pulsar, new CliScene(onEnd), files);
    await Promise.all([cluster.startNode(0), cluster.startNode(1)]);
    return cluster;
  }

  async startNode(at: number): Promise<void> {
    const node = this.#scene.start(['run', '--config', this.#files[at], '--node', `node-${at + 1}`]);
    this.nodes[at] = node;
    await node.logged('http listening');
  }

  /** A group with a namespace of its own; one topic of it at each broker. */
  async group(name: string, rates: Readonly<Record<string, number>>): Promise<string[]> {
    await this.pulsar.putGroup(name, rates);
    return this.topics(namespaceOf(name), name);
  }

  /** A namespace; one topic of it at each broker. */
  async topics(namespace: string, group: string | null = null): Promise<string[]> {
    await this.pulsar.createTopics(namespace, group, TOPICS);
    return this.pulsar.oneTopicEach(namespace, TOPICS);
  }

  /** The node must listen on TCP. */
  async nodeUrl(at: number, path: string): Promise<string> {
    return new URL(path, await this.nodes[at].url()).href;
  }

  /** Units per second that a broker may admit. */
  async shares(group: string, direction = 'publish', unit = 'messages'): Promise<number[]> {
    const name = `pulsar_quotamesh_share_${unit}_per_second{resource_group="${group}",direction="${direction}"}`;
    return this.#figures(name);
  }

  /** 1: without its node. */
  async alone(group: string): Promise<number[]> {
    return this.#figures(`pulsar_quotamesh_alone{resource_group="${group}",direction="publish"}`);
  }

  #figures(name: string): Promise<number[]> {
    const read = async (broker: PulsarBroker) => (await broker.metrics('pulsar_quotamesh_')).get(name) ?? Number.NaN;
    return Promise.all(this.pulsar.brokers.filter((broker) => broker.isRunning()).map(read));
  }
}

function namespaceOf(group: string): string {
  return group.replace(/[^a-z0-9]/g, '-');
}

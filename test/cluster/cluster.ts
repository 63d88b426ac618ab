import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { NodeStatus } from '../../src/node/api/node-status.js';
import { epochNow } from '../../src/tools/load/epoch-now.js';
import { freePorts } from '../../src/tools/processes/free-ports.js';
import { NodeProcess } from '../../src/tools/processes/node-process.js';
import type { WrittenGroup, WrittenSettings, WrittenTopic } from '../written-settings.js';

const STOP_PATIENCE_MS = 8000;

export interface ClusterOptions {
  /** The `topic:` value of the YAML, as JSON (which is YAML). `embedded` uses the cluster's own folder. */
  readonly topic: WrittenTopic;
  /** Nodes that reach the topic another way, by node id. */
  readonly topicOf?: Readonly<Record<string, ClusterOptions['topic']>>;
  readonly quota?: number;
  readonly groupSettings?: WrittenGroup;
  readonly nodeSettings?: WrittenSettings;
  /** Settings of one node, by node id. */
  readonly settingsOf?: Readonly<Record<string, WrittenSettings>>;
  /** On top of this process's own environment. */
  readonly env?: Readonly<Record<string, string>>;
}

/** One line of a node's decision log. */
export interface DecisionLine {
  /** Epoch milliseconds. */
  readonly t: number;
  readonly node: string;
  readonly group: string;
  readonly shareMessages: number | null;
}

/** Real node processes of one cluster, in a folder of their own that is removed at the end. */
export class Cluster {
  readonly folder: string;
  readonly nodes = new Map<string, NodeProcess>();
  readonly #options: ClusterOptions;

  constructor(folder: string, options: ClusterOptions) {
    this.folder = folder;
    this.#options = options;
  }

  static async create(options: ClusterOptions): Promise<Cluster> {
    return new Cluster(await mkdtemp(join(tmpdir(), 'quotamesh-cluster-')), options);
  }

  /** Starts a node process without waiting for it to be ready. */
  async spawn(id: string): Promise<NodeProcess> {
    const [port] = (await freePorts(1)) as [number];
    const configFile = join(this.folder, `${id}.yaml`);
    await writeFile(configFile, JSON.stringify(this.#configOf(id), null, 2));
    const node = new NodeProcess({ id, port, configFile, env: { ...process.env, ...this.#options.env } });
    this.nodes.set(id, node);
    return node;
  }

  /** Starts the nodes together and waits until all are ready; returns the epoch time at which the first was. */
  async start(...ids: string[]): Promise<number> {
    const nodes = await Promise.all(ids.map((id) => this.spawn(id)));
    try {
      return Math.min(...(await Promise.all(nodes.map((node) => node.ready().then(epochNow)))));
    } catch (error) {
      // The caller has no cluster yet that it could stop.
      await this.stop();
      throw error;
    }
  }

  node(id: string): NodeProcess {
    const node = this.nodes.get(id);
    if (node === undefined) throw new Error(`no node ${id}`);
    return node;
  }

  url(id: string): string {
    return this.node(id).url;
  }

  async status(id: string): Promise<NodeStatus> {
    const response = await fetch(`${this.url(id)}/v1/nodes`, { signal: AbortSignal.timeout(5000) });
    return (await response.json()) as NodeStatus;
  }

  /** All decisions so far, in order of time. */
  async decisions(): Promise<DecisionLine[]> {
    const files = await Promise.all(
      [...this.nodes.keys()].map((id) => readFile(this.#decisionFile(id), 'utf8').catch(() => '')),
    );
    const lines = files.flatMap((file) => file.split('\n').filter((line) => line.endsWith('}')));
    return lines.map((line) => JSON.parse(line) as DecisionLine).sort((left, right) => left.t - right.t);
  }

  async stop(): Promise<void> {
    await Promise.all([...this.nodes.values()].map(({ child }) => child.stop(STOP_PATIENCE_MS)));
    await rm(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }

  #configOf(id: string): WrittenSettings {
    const {
      topic: common,
      topicOf = {},
      quota = 1000,
      groupSettings = {},
      nodeSettings = {},
      settingsOf = {},
    } = this.#options;
    const topic = topicOf[id] ?? common;
    return {
      cluster: 'test',
      topic: topic === 'embedded' ? { kind: 'embedded', path: './state' } : topic,
      log: { decisionsFile: this.#decisionFile(id) },
      groups: { orders: { quota: { publish: { messagesPerSecond: quota } }, ...groupSettings } },
      ...nodeSettings,
      ...settingsOf[id],
    };
  }

  #decisionFile(id: string): string {
    return join(this.folder, `${id}.decisions`);
  }
}

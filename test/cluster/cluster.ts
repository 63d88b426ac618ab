import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { NodeStatus } from '../../src/api/node-status.js';
import { COMMAND_FILE } from '../../src/package/package-root.js';

export interface ClusterOptions {
  /** The `topic:` value of the YAML, as JSON (which is YAML). `embedded` uses the cluster's own folder. */
  readonly topic: 'embedded' | Readonly<Record<string, unknown>>;
  /** Nodes that reach the topic another way, by node id. */
  readonly topicOf?: Readonly<Record<string, ClusterOptions['topic']>>;
  readonly quota?: number;
  readonly groupSettings?: Readonly<Record<string, unknown>>;
  readonly nodeSettings?: Readonly<Record<string, unknown>>;
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

/** A node as an operating system process: `quotamesh run`, as a user would start it. */
export interface NodeProcess {
  readonly id: string;
  readonly url: string;
  readonly child: ChildProcess;
  /** Resolves with the exit code (or signal name). */
  readonly exited: Promise<number | string>;
  output(): string;
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
    const port = await freePort();
    const file = join(this.folder, `${id}.yaml`);
    await writeFile(file, JSON.stringify(this.#configOf(id), null, 2));
    const child = spawn(
      process.execPath,
      [COMMAND_FILE, 'run', '--config', file, '--node', id, '--http', `127.0.0.1:${port}`],
      {
        stdio: ['ignore', 'pipe', 'pipe'],
        env: { ...process.env, ...this.#options.env },
      },
    );
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        output = (output + chunk.toString()).slice(-64_000);
      });
    }
    const exited = new Promise<number | string>((resolve) => {
      child.once('exit', (code, signal) => resolve(code ?? signal ?? 'unknown'));
    });
    const node = { id, url: `http://127.0.0.1:${port}`, child, exited, output: () => output };
    this.nodes.set(id, node);
    return node;
  }

  /** Starts the nodes together and waits until all are ready; returns the epoch time at which the first was. */
  async start(...ids: string[]): Promise<number> {
    const nodes = await Promise.all(ids.map((id) => this.spawn(id)));
    try {
      return Math.min(...(await Promise.all(nodes.map((node) => untilReady(node)))));
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
    for (const { child } of this.nodes.values()) {
      child.kill('SIGCONT');
      child.kill('SIGTERM');
    }
    const exits = [...this.nodes.values()].map(({ exited }) => exited);
    await Promise.race([Promise.all(exits), sleep(8000, undefined, { ref: false })]);
    for (const { child } of this.nodes.values()) child.kill('SIGKILL');
    await rm(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }

  #configOf(id: string): Record<string, unknown> {
    const { topic: common, topicOf = {}, quota = 1000, groupSettings = {}, nodeSettings = {} } = this.#options;
    const topic = topicOf[id] ?? common;
    return {
      cluster: 'test',
      topic: topic === 'embedded' ? { kind: 'embedded', path: './state' } : topic,
      log: { decisionsFile: this.#decisionFile(id) },
      groups: { orders: { quota: { publish: { messagesPerSecond: quota } }, ...groupSettings } },
      ...nodeSettings,
    };
  }

  #decisionFile(id: string): string {
    return join(this.folder, `${id}.decisions`);
  }
}

/** Resolves with the epoch time at which the node was seen ready. */
export async function untilReady(node: NodeProcess, timeoutMs = 30_000): Promise<number> {
  const deadline = performance.now() + timeoutMs;
  while (performance.now() < deadline) {
    const ready = await fetch(`${node.url}/readyz`, { signal: AbortSignal.timeout(2000) }).catch(() => null);
    await ready?.arrayBuffer();
    if (ready?.status === 200) return performance.timeOrigin + performance.now();
    if (node.child.exitCode !== null) break;
    await sleep(10);
  }
  throw new Error(`node ${node.id} is not ready after ${timeoutMs} ms:\n${node.output()}`);
}

async function freePort(): Promise<number> {
  return await new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() =>
        address !== null && typeof address === 'object' ? resolve(address.port) : reject(new Error('no port')),
      );
    });
  });
}

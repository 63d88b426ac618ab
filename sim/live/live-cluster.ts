import { setTimeout as sleep } from 'node:timers/promises';
import { QuotameshError } from '../../src/base/errors/quotamesh-error.js';
import type { NodeStatus } from '../../src/node/api/node-status.js';
import { epochNow } from '../../src/tools/load/epoch-now.js';
import { portsFor } from '../../src/tools/processes/free-ports.js';
import { NodeProcess } from '../../src/tools/processes/node-process.js';

const STOP_PATIENCE_MS = 5000;
const COUNT_EVERY_MS = 1000;
/** Below the system's outgoing ports: a returning node finds its own. */
const FIRST_PORT = 20_000;
const PORTS = 10_000;

interface LiveFolder {
  readonly configFile: string;
  logFile(name: string): string;
}

/** Runs a live run's nodes; each keeps its address over restarts. */
export class LiveCluster {
  /** Rejects when a node ends by itself. */
  readonly failed: Promise<never>;
  readonly urls: readonly string[];
  readonly #folder: LiveFolder;
  readonly #ports: ReadonlyMap<string, number>;
  readonly #running = new Map<string, NodeProcess>();
  readonly #ever: NodeProcess[] = [];
  readonly #sent = new Map<NodeProcess, { readonly records: number; readonly bytes: number }>();
  #countTimer: NodeJS.Timeout | undefined;
  #isStopped = false;
  #fail: (error: Error) => void = () => undefined;

  private constructor(nodes: readonly string[], ports: readonly number[], folder: LiveFolder) {
    this.#folder = folder;
    this.#ports = new Map(nodes.map((node, at) => [node, ports[at]]));
    this.urls = ports.map((port) => `http://127.0.0.1:${port}`);
    this.failed = new Promise((_, reject) => {
      this.#fail = reject;
    });
    this.failed.catch(() => undefined);
  }

  static async create(nodes: readonly string[], folder: LiveFolder): Promise<LiveCluster> {
    const first = FIRST_PORT + ((process.pid * 16) % PORTS);
    return new LiveCluster(nodes, await portsFor(nodes.length, first), folder);
  }

  /** Starts a node; resolves when it decides. */
  async start(node: string): Promise<void> {
    if (this.#isStopped) return;
    const { configFile } = this.#folder;
    const port = this.#ports.get(node) as number;
    const started = new NodeProcess({ id: node, port, configFile, logFile: this.#folder.logFile(node) });
    this.#running.set(node, started);
    this.#ever.push(started);
    void started.child.ended.then(({ code, signal }) => {
      if (this.#running.get(node) !== started) return;
      const reason = `ended with ${code ?? signal} in the middle of the run`;
      this.#fail(new QuotameshError('NODE_FAILED', { node, reason, log: started.child.logEnd() }));
    });
    await started.ready();
  }

  /** Ends a node; resolves when it is gone. */
  async end(node: string, how: 'crash' | 'leave'): Promise<void> {
    const ended = this.#running.get(node);
    this.#running.delete(node);
    if (how === 'crash') ended?.child.signal('SIGKILL');
    else await ended?.child.stop(STOP_PATIENCE_MS);
    await ended?.child.ended;
  }

  pidOf(node: string): number | undefined {
    return this.#running.get(node)?.child.pid;
  }

  /** Counts each second what nodes appended; a killed one loses up to a second. */
  count(): void {
    this.#countTimer = setInterval(() => void this.#countOnce(), COUNT_EVERY_MS);
  }

  async sent(): Promise<{ readonly records: number; readonly bytes: number }> {
    clearInterval(this.#countTimer);
    await this.#countOnce();
    const all = [...this.#sent.values()];
    const sum = (key: 'records' | 'bytes') => all.reduce((total, one) => total + one[key], 0);
    return { records: sum('records'), bytes: sum('bytes') };
  }

  /** Stops all in order; kills those that stay. */
  async stop(): Promise<void> {
    clearInterval(this.#countTimer);
    this.#isStopped = true;
    this.#running.clear();
    await Promise.all(this.#ever.map(({ child }) => child.stop(STOP_PATIENCE_MS)));
  }

  killAll(): void {
    this.#isStopped = true;
    this.#running.clear();
    for (const { child } of this.#ever) child.signal('SIGKILL');
  }

  async #countOnce(): Promise<void> {
    await Promise.all([...this.#running.values()].map((node) => this.#countOf(node)));
  }

  /** Counts one node; a silent one keeps its figures. */
  async #countOf(node: NodeProcess): Promise<void> {
    const answer = fetch(new URL('/v1/nodes', node.url), { signal: AbortSignal.timeout(COUNT_EVERY_MS) });
    const status = await answer.then((response) => response.json() as Promise<NodeStatus>).catch(() => null);
    const counters = status?.topic?.counters;
    if (counters) this.#sent.set(node, { records: counters.recordsAppended, bytes: counters.bytesAppended });
  }
}

/** Waits, without keeping the process alive. */
export async function untilEpoch(epochMs: number): Promise<void> {
  await sleep(Math.max(0, epochMs - epochNow()), undefined, { ref: false });
}

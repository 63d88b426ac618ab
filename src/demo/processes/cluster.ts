import type { ClusterStatus } from '../../node-client/cluster-status.js';
import { NodeProcess } from '../../processes/node-process.js';
import type { StateFolder } from './state-folder.js';

const READY_TIMEOUT_MS = 20_000;
/** Nodes leave in a tenth of a second; Ctrl-C promises two seconds for everything. */
const STOP_PATIENCE_MS = 1500;
const WATCH_EVERY_MS = 500;

/** What the nodes say about themselves. */
export interface NodeView {
  /** What it enforces, messages per second; null until known. */
  readonly sharePerSecond: number | null;
  readonly lastRebalancingMs: number;
}

/** The node processes of the demonstration. */
export class Cluster {
  readonly nodes: readonly NodeProcess[];
  readonly views: NodeView[];
  readonly #group: string;
  #watchTimer: NodeJS.Timeout | undefined;

  constructor(ports: readonly number[], folder: StateFolder, group: string) {
    const { configFile } = folder;
    this.nodes = ports.map((port, at) => {
      const id = nodeName(at);
      return new NodeProcess({ id, port, configFile, logFile: folder.logFile(id) });
    });
    this.views = this.nodes.map(() => ({ sharePerSecond: null, lastRebalancingMs: 0 }));
    this.#group = group;
  }

  async ready(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.ready(READY_TIMEOUT_MS)));
  }

  /** Asks the nodes for their shares every half second; a node that does not answer keeps its last view. */
  watch(): void {
    this.#watchTimer = setInterval(() => {
      for (const at of this.nodes.keys()) void this.#look(at);
    }, WATCH_EVERY_MS);
  }

  /** All leave at the same time, farewells published. Returns the ids of those that did not end with 0. */
  async stop(): Promise<string[]> {
    clearInterval(this.#watchTimer);
    const running = this.nodes.filter(({ child }) => child.isRunning);
    const exits = await Promise.all(running.map(({ child }) => child.stop(STOP_PATIENCE_MS)));
    return running.filter((_, at) => exits[at].code !== 0).map(({ id }) => id);
  }

  async #look(at: number): Promise<void> {
    const node = this.nodes[at];
    if (!node.child.isRunning) return;
    const status = await node.status(this.#group).catch(() => null);
    if (status !== null) this.views[at] = viewOf(status);
  }
}

function nodeName(at: number): string {
  return String.fromCharCode('A'.charCodeAt(0) + at);
}

function viewOf({ node, groups }: ClusterStatus): NodeView {
  const local = groups[0]?.directions.publish.local;
  return {
    sharePerSecond: local?.share.messagesPerSecond ?? null,
    lastRebalancingMs: node.lastRebalancingMs,
  };
}

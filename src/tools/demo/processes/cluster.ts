import { NodeProcess } from '../../processes/node-process.js';
import type { StateFolder } from './state-folder.js';

const READY_TIMEOUT_MS = 20_000;
/** Milliseconds for nodes to leave, of the two seconds that Ctrl-C takes. */
const STOP_PATIENCE_MS = 1500;

/** Runs the demonstration's node processes. */
export class Cluster {
  readonly #ports: readonly number[];
  readonly #folder: StateFolder;
  readonly #nodes: NodeProcess[];
  readonly #starting = new Set<number>();

  constructor(ports: readonly number[], folder: StateFolder) {
    this.#ports = ports;
    this.#folder = folder;
    this.#nodes = ports.map((_, at) => this.#start(at));
  }

  get nodes(): readonly NodeProcess[] {
    return this.#nodes;
  }

  async ready(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.ready(READY_TIMEOUT_MS)));
  }

  stateOf(at: number): 'ready' | 'starting' | 'dead' {
    if (this.#nodes[at]?.child.isRunning !== true) return 'dead';
    return this.#starting.has(at) ? 'starting' : 'ready';
  }

  /** Starts a process under an ended one's name and address; resolves when ready. */
  async startAgain(at: number): Promise<void> {
    this.#nodes[at] = this.#start(at);
    this.#starting.add(at);
    await this.#nodes[at].ready(READY_TIMEOUT_MS);
    this.#starting.delete(at);
  }

  async stop(): Promise<string[]> {
    const running = this.nodes.filter(({ child }) => child.isRunning);
    const exits = await Promise.all(running.map(({ child }) => child.stop(STOP_PATIENCE_MS)));
    return running.filter((_, at) => exits[at].code !== 0).map(({ id }) => id);
  }

  #start(at: number): NodeProcess {
    const id = String.fromCharCode('A'.charCodeAt(0) + at);
    const { configFile } = this.#folder;
    return new NodeProcess({ id, port: this.#ports[at], configFile, logFile: this.#folder.logFile(id) });
  }
}

import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { COMMAND_FILE } from '../../src/base/package/package-root.js';
import { epochNow } from '../../src/tools/load/epoch-now.js';
import { type GuardedProcess, startGuarded } from '../kafka/guarded-process.js';
import { type Brokers, PARTITIONS, TOPIC } from './brokers.js';
import type { Life } from './lives.js';
import { NODES } from './schedule.js';
import { nodeConfig, nodeName } from './workload.js';

/** A process of a node, in epoch milliseconds; as `Life` of lives.ts. */
interface SeenLife {
  readonly node: number;
  readyMs: number | null;
  endedMs: number | null;
  isStopped: boolean;
}

/** For every node, and for its second process. */
export const NODE_PORTS = 2 * NODES;

const READY_POLL_MS = 50;
const LEAVE_PATIENCE_MS = 10_000;

/** The nodes as operating system processes, `quotamesh run`, that cannot outlive us: not even frozen. */
export class NodeProcesses {
  /** By node; the second processes stand behind them. */
  readonly urls: readonly string[];
  readonly #folder: string;
  readonly #ports: readonly number[];
  readonly #processes: (GuardedProcess | undefined)[] = [];
  readonly #lives: SeenLife[] = [];
  /** By slot. */
  readonly #latest: (SeenLife | undefined)[] = [];

  private constructor(folder: string, ports: readonly number[]) {
    this.#folder = folder;
    this.#ports = ports;
    this.urls = ports.map((port) => `http://127.0.0.1:${port}`);
  }

  static async prepare(folder: string, ports: readonly number[], brokers: Brokers): Promise<NodeProcesses> {
    const nodes = new NodeProcesses(folder, ports.slice(0, NODE_PORTS));
    for (let node = 0; node < NODES; node++) {
      const topic = { kind: 'kafka', brokers: brokers.addressesFor(node), name: TOPIC, partitions: PARTITIONS };
      await writeFile(nodes.configFile(node), nodeConfig(topic, nodes.decisionsFile));
    }
    return nodes;
  }

  get decisionsFile(): string {
    return join(this.#folder, 'decisions.jsonl');
  }

  /** `slot`: the node, or NODES + node for its second process. Does not wait until it is ready. */
  async start(slot: number): Promise<void> {
    if (this.isRunning(slot)) return;
    const node = slot % NODES;
    const address = `127.0.0.1:${this.#ports[slot]}`;
    const log = this.logFile(slot);
    appendFileSync(log, `--- started at ${new Date().toISOString()}\n`);
    const command = [process.execPath, COMMAND_FILE, 'run', '--config', this.configFile(node)];
    const shell = ['-c', 'log=$1; shift; exec "$@" >>"$log" 2>&1', 'node', log];
    const identity = ['--node', nodeName(node), '--http', address];
    const life: SeenLife = { node, readyMs: null, endedMs: null, isStopped: false };
    const started = await startGuarded('sh', [...shell, ...command, ...identity]);
    this.#processes[slot] = started;
    this.#latest[slot] = life;
    this.#lives.push(life);
    void started.ended.then(() => {
      life.endedMs = epochNow();
    });
  }

  /** Lists every process that was started. @param beganMs what their times are counted from */
  lives(beganMs: number): Life[] {
    const since = (atMs: number | null) => (atMs === null ? null : atMs - beganMs);
    return this.#lives.map((life) => ({ ...life, readyMs: since(life.readyMs), endedMs: since(life.endedMs) }));
  }

  isRunning(slot: number): boolean {
    return this.#processes[slot]?.isRunning() ?? false;
  }

  signal(slot: number, name: NodeJS.Signals): void {
    this.#processes[slot]?.signal(name);
  }

  async kill(slot: number): Promise<void> {
    this.signal(slot, 'SIGKILL');
    await this.#processes[slot]?.ended;
  }

  /** With a farewell; false when it had to be killed. */
  async leave(slot: number): Promise<boolean> {
    const life = this.isRunning(slot) ? this.#latest[slot] : undefined;
    this.signal(slot, 'SIGTERM');
    const ended = this.#processes[slot]?.ended.then(() => true);
    const inTime = (await Promise.race([ended, sleep(LEAVE_PATIENCE_MS, false, { ref: false })])) ?? true;
    if (life !== undefined) life.isStopped = inTime;
    if (!inTime) await this.kill(slot);
    return inTime;
  }

  /** False when it ended instead, or the time was up. */
  async untilReady(slot: number, timeoutMs: number): Promise<boolean> {
    const deadlineMs = performance.now() + timeoutMs;
    const life = this.#latest[slot];
    let notReadyMs = epochNow();
    while (this.isRunning(slot) && performance.now() < deadlineMs) {
      const askedMs = epochNow();
      if (await isReady(this.urls[slot])) {
        if (life !== undefined) life.readyMs ??= notReadyMs;
        return true;
      }
      notReadyMs = askedMs;
      await sleep(READY_POLL_MS);
    }
    return false;
  }

  /** False when the time was up. */
  async untilEnded(slot: number, timeoutMs: number): Promise<boolean> {
    const deadlineMs = performance.now() + timeoutMs;
    while (this.isRunning(slot) && performance.now() < deadlineMs) await sleep(READY_POLL_MS);
    return !this.isRunning(slot);
  }

  async stop(): Promise<void> {
    await Promise.all(this.urls.map((_, slot) => this.kill(slot)));
  }

  logFile(slot: number): string {
    const name = nodeName(slot % NODES);
    return join(this.#folder, slot < NODES ? `${name}.log` : `${name}-second.log`);
  }

  logEnd(slot: number, lines: number): string {
    const file = this.logFile(slot);
    if (!existsSync(file)) return 'it has no log';
    return readFileSync(file, 'utf8').trimEnd().split('\n').slice(-lines).join('\n');
  }

  configFile(node: number): string {
    return join(this.#folder, `${nodeName(node)}.yaml`);
  }
}

function isReady(url: string): Promise<boolean> {
  return fetch(`${url}/readyz`, { signal: AbortSignal.timeout(1000) }).then(
    async (response) => {
      await response.arrayBuffer();
      return response.ok;
    },
    () => false,
  );
}

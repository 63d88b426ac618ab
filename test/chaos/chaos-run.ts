import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { epochNow } from '../../src/tools/load/epoch-now.js';
import { portsFor } from '../../src/tools/processes/free-ports.js';
import { type GuardedProcess, startGuarded } from '../kafka/guarded-process.js';
import { BROKER_PORTS, Brokers } from './brokers.js';
import { type Call, Clients } from './clients.js';
import { whatIsMissing } from './convergence.js';
import { waitedForCoreUs, waitedPart } from './cpu-pressure.js';
import { FAULTS } from './fault-table.js';
import { ACTIONS, type Stage, thawEverything } from './faults.js';
import { type HappenedFault, whom } from './happened.js';
import { NODE_PORTS, NodeProcesses } from './node-processes.js';
import { Recorder } from './recorder.js';
import { NODES, type PlannedFault, type Round } from './schedule.js';
import { SharesHeld } from './shares-held.js';
import type { Evidence, Wrong } from './verdict.js';
import { Watch } from './watch.js';
import { GROUPS } from './workload.js';

/** Below those that the system gives to outgoing connections, so that what returns finds its own free. */
const FIRST_PORT = 20_000;
const PORTS = 10_000;
const START_PATIENCE_MS = 60_000;
/** Time for answers that are on their way. */
const LAST_ANSWERS_MS = 1500;

export interface ChaosOptions {
  readonly rounds: readonly Round[];
  readonly durationMs: number;
  /** A new file for what the topic holds meanwhile; null = none. */
  readonly recording: string | null;
  say(line: string): void;
}

/** One run on real processes. `leave` must be called in the end, however it ends. */
export class ChaosRun {
  readonly folder: string;
  readonly #options: ChaosOptions;
  readonly #happened: HappenedFault[] = [];
  readonly #wrongs: Wrong[] = [];
  #mountGuard: GuardedProcess | undefined;
  #brokers: Brokers | undefined;
  #nodes: NodeProcesses | undefined;
  #clients: Clients | undefined;
  #watch: Watch | undefined;
  #recorder: Recorder | undefined;
  #beganMs = Number.NaN;
  #waitedUs: number | null = null;
  #isLeaving = false;

  private constructor(options: ChaosOptions, folder: string) {
    this.#options = options;
    this.folder = folder;
  }

  static async prepare(options: ChaosOptions): Promise<ChaosRun> {
    return new ChaosRun(options, await mkdtemp(join(tmpdir(), 'quotamesh-chaos-')));
  }

  async play(): Promise<Evidence> {
    const stage = await this.#setUp();
    await this.#oneCluster();
    await this.#record(stage);
    stage.clients.begin(stage.nodes.urls);
    this.#beganMs = epochNow();
    this.#waitedUs = waitedForCoreUs();
    for (const [at, round] of this.#options.rounds.entries()) await this.#playRound(stage, round, at);
    await this.#until(this.#options.durationMs);
    const durationMs = this.#nowMs;
    this.#watch?.end();
    await sleep(LAST_ANSWERS_MS);
    await stage.clients.collect();
    return this.#evidence(stage, durationMs);
  }

  /** What each strategy makes of the recording, as a table; throws where it cannot be replayed. */
  async replay(): Promise<string> {
    const [largest] = GROUPS;
    return (await this.#recorder?.replay(largest.name)) ?? 'nothing was recorded';
  }

  /** Leaves no process, no file system and no folder behind, but for the logs of the nodes where they are wanted. */
  async leave(keepsLogs: boolean): Promise<void> {
    this.#isLeaving = true;
    this.#watch?.end();
    this.#recorder?.stop();
    this.#clients?.stop();
    if (this.#brokers !== undefined && this.#nodes !== undefined) await thawEverything(this.#brokers, this.#nodes);
    await this.#nodes?.stop();
    await this.#brokers?.stop();
    // Started only now: it removes what is still there when this process dies.
    this.#mountGuard?.signal('SIGKILL');
    await this.#mountGuard?.ended;
    const gone = keepsLogs ? (this.#brokers?.disks.folders ?? []) : [this.folder];
    await Promise.all(gone.map((folder) => rm(folder, { recursive: true, force: true, maxRetries: 5 })));
  }

  async #setUp(): Promise<Stage> {
    const { say } = this.#options;
    const first = FIRST_PORT + ((process.pid * 64) % PORTS);
    const ports = await portsFor(BROKER_PORTS + NODE_PORTS, first);
    const brokers = await Brokers.start(this.folder, ports.slice(NODE_PORTS));
    this.#brokers = brokers;
    const cleanUp = `${brokers.disks.cleanUp}; rm -rf '${this.folder}'`;
    this.#mountGuard = await startGuarded('sleep', ['infinity'], cleanUp);
    const nodes = await NodeProcesses.prepare(this.folder, ports.slice(0, NODE_PORTS), brokers);
    this.#nodes = nodes;
    const clients = new Clients();
    this.#clients = clients;
    this.#watch = new Watch(nodes.urls);
    if (this.#isLeaving) throw new Error('left before it began');
    await Promise.all(Array.from({ length: NODES }, (_, node) => nodes.start(node)));
    for (let node = 0; node < NODES; node++) {
      if (await nodes.untilReady(node, START_PATIENCE_MS)) continue;
      throw new Error(`n${node + 1} is not ready:\n${nodes.logEnd(node, 12)}`);
    }
    return { brokers, nodes, clients, say, broke: (what) => this.#broke(what) };
  }

  async #record({ nodes }: Stage): Promise<void> {
    const { recording } = this.#options;
    if (recording !== null) this.#recorder = await Recorder.start(nodes.configFile(0), recording);
  }

  /** Waits until all nodes know each other. Shares come only with traffic. */
  async #oneCluster(): Promise<void> {
    this.#watch?.begin();
    const deadlineMs = performance.now() + START_PATIENCE_MS;
    while (performance.now() < deadlineMs) {
      const missing = whatIsMissing(this.#watch?.latest() ?? []);
      if (missing === null || missing.startsWith('Σ')) return;
      await sleep(100);
    }
    throw new Error(`the cluster is not one: ${whatIsMissing(this.#watch?.latest() ?? [])}`);
  }

  /** A delay of an earlier round shifts this one, so that no fault begins in the calm of another round. */
  async #playRound(stage: Stage, round: Round, at: number): Promise<void> {
    const shiftMs = Math.max(0, this.#nowMs - round.fromMs);
    const late = shiftMs > 500 ? `, ${(shiftMs / 1000).toFixed(0)} s later than planned` : '';
    this.#say(`round ${at + 1} of ${this.#options.rounds.length}${late}`);
    await Promise.all(round.faults.map((fault) => this.#playFault(stage, fault, at, shiftMs)));
    await this.#replaceEnded(stage);
    const calmMs = round.toMs - Math.max(...round.faults.map(({ toMs }) => toMs));
    await this.#until(
      Math.max(round.toMs + shiftMs, ...this.#endsOf(at).map((endMs) => endMs + Math.min(calmMs, 11_000))),
    );
  }

  async #playFault(stage: Stage, fault: PlannedFault, round: number, shiftMs: number): Promise<void> {
    const notes: string[] = [];
    const say = (note: string) => {
      notes.push(note);
      this.#say(`  ${fault.kind}: ${note}`);
    };
    const { notOwn } = stage.brokers.disks;
    if (fault.kind === 'broker-disk-full' && notOwn !== null) return say(`left out: ${notOwn}`);
    const own = { ...stage, say };
    await this.#until(fault.fromMs + shiftMs);
    const fromMs = this.#nowMs;
    await ACTIONS[fault.kind].begin(own, fault);
    await this.#until(fault.toMs + shiftMs);
    const remedyMs = this.#nowMs;
    await ACTIONS[fault.kind].remedy(own, fault);
    const doneMs = this.#nowMs;
    const happened = { fault, round, fromMs, remedyMs, doneMs, notes };
    this.#happened.push(happened);
    const took = `broken for ${((remedyMs - fromMs) / 1000).toFixed(1)} s, up again ${((doneMs - remedyMs) / 1000).toFixed(1)} s later`;
    this.#say(`  ${fault.kind} ${whom(happened)}: ${FAULTS[fault.kind].what}; ${took}`);
  }

  /** Starts a new process for each node that ended by itself, which counts as a broken promise. */
  async #replaceEnded({ nodes }: Stage): Promise<void> {
    for (let node = 0; node < NODES; node++) {
      if (nodes.isRunning(node)) continue;
      const lastWords = nodes.logEnd(node, 1);
      this.#broke(`n${node + 1} has ended by itself: ${lastWords}`);
      await nodes.start(node);
      await nodes.untilReady(node, START_PATIENCE_MS);
    }
  }

  #broke(what: string): void {
    this.#wrongs.push({ atMs: this.#nowMs, what });
    this.#say(`  broken: ${what}`);
  }

  #endsOf(round: number): number[] {
    return this.#happened.filter((one) => one.round === round).map(({ doneMs }) => doneMs);
  }

  #evidence({ nodes, clients }: Stage, durationMs: number): Evidence {
    if (!clients.isRunning) throw new Error(`the clients have ended:\n${clients.logEnd()}`);
    const beganMs = this.#beganMs;
    return {
      durationMs,
      waitedForCore: waitedPart(this.#waitedUs, durationMs),
      calls: clients.calls.map((call) => since(beganMs, call)),
      samples: (this.#watch?.samples ?? []).map((sample) => ({ ...sample, atMs: sample.atMs - beganMs })),
      wrongs: this.#wrongs,
      happened: [...this.#happened].sort((one, other) => one.fromMs - other.fromMs),
      lives: nodes.lives(beganMs),
      shares: new SharesHeld(readFileSync(nodes.decisionsFile, 'utf8'), beganMs, NODES),
    };
  }

  get #nowMs(): number {
    return epochNow() - this.#beganMs;
  }

  async #until(atMs: number): Promise<void> {
    await sleep(Math.max(0, atMs - this.#nowMs));
  }

  #say(line: string): void {
    this.#options.say(`${(this.#nowMs / 1000).toFixed(1).padStart(7)} s  ${line}`);
  }
}

function since(beganMs: number, call: Call): Call {
  const { dueMs, sentMs, endedMs } = call;
  return { ...call, dueMs: dueMs - beganMs, sentMs: sentMs - beganMs, endedMs: endedMs - beganMs };
}

import type { BudgetState } from '../../src/core/strict/budget-account.js';
import { StrictNode, type StrictNodeSettings } from '../../src/core/strict/strict-node.js';
import type { StrictRead } from '../../src/core/strict/strict-record.js';
import type { EventQueue } from '../cluster/event-queue.js';
import type { StrictLog, StrictReader } from './strict-log.js';

const ROUND_MS = 20;
/** Lives that a process may begin in one epoch. */
const LIVES_PER_EPOCH = 1000;

/** Puts a fault into a node, to be found by the judge. */
export type StrictMutation = (node: StrictNode) => void;

export interface ProcessSettings extends StrictNodeSettings {
  /** Milliseconds ahead, and the part by which it is too fast. */
  readonly clock: { readonly aheadMs: number; readonly drift: number };
  /** Milliseconds that a refused request waits; 0 = it is refused at once. */
  readonly waitMs: number;
  readonly mutation: StrictMutation | null;
}

/** Runs one node in virtual time: its rounds, its clock, its requests, and the faults of its process. */
export class StrictProcess implements StrictReader {
  node: StrictNode;
  #epoch = 0;
  #epochs = 0;
  #knew: BudgetState | null = null;
  isRunning = true;
  isFrozen = false;
  readonly #queue: EventQueue;
  readonly #log: StrictLog;
  readonly #settings: ProcessSettings;
  readonly #admit: (tokens: number) => void;
  #waiting: { readonly tokens: number; readonly untilMs: number }[] = [];
  #thawed: (() => void)[] = [];

  constructor(queue: EventQueue, log: StrictLog, settings: ProcessSettings, admit: (tokens: number) => void) {
    this.#queue = queue;
    this.#log = log;
    this.#settings = settings;
    this.#admit = (tokens) => {
      admit(tokens);
      if (settings.quota.budget) this.node.wallet?.endRequest(tokens, tokens);
    };
    this.node = new StrictNode(settings);
    log.follow(this);
    this.#rounds();
  }

  /** Milliseconds of this node's own clock. */
  get clockMs(): number {
    const { aheadMs, drift } = this.#settings.clock;
    return aheadMs + this.#queue.nowMs * (1 + drift);
  }

  read(read: StrictRead): void {
    this.#whenThawed(() => {
      this.node.read(read, this.clockMs);
      this.#serve();
      this.#write();
    });
  }

  beginEpoch(epoch: number): void {
    this.#whenThawed(() => {
      this.#epoch = epoch;
      this.#knew = this.node.budgetRead ?? this.#knew;
      const life = this.#settings.life + LIVES_PER_EPOCH * this.#epochs++;
      this.node = new StrictNode({ ...this.#settings, life, knew: this.#knew });
      this.#settings.mutation?.(this.node);
      this.#countWaiting();
    });
  }

  ask(tokens: number): void {
    this.#whenThawed(() => {
      if (this.#waiting.length > 0) this.node.asked(tokens, this.clockMs);
      else if (this.node.take(tokens, this.clockMs)) return this.#admit(tokens);
      if (this.#settings.waitMs > 0) this.#wait(tokens);
      this.#write();
    });
  }

  freeze(): void {
    this.isFrozen = true;
    this.#log.deafen(this, true);
  }

  /** Goes on with what requests it had before it reads on. */
  thaw(): void {
    this.isFrozen = false;
    this.#log.deafen(this, false);
    for (const run of this.#thawed.splice(0)) run();
  }

  leave(): void {
    this.node.leave(this.clockMs);
    this.#write();
    this.kill();
  }

  kill(): void {
    this.isRunning = false;
    this.#log.end(this);
  }

  #rounds(): void {
    if (!this.isRunning) return;
    if (!this.isFrozen) {
      this.#serve();
      if (this.node.dueMs <= this.clockMs) this.node.round(this.clockMs);
      this.#write();
    }
    this.#queue.after(ROUND_MS, () => this.#rounds());
  }

  #whenThawed(run: () => void): void {
    if (!this.isRunning) return;
    if (this.isFrozen) this.#thawed.push(run);
    else run();
  }

  #wait(tokens: number): void {
    this.#waiting.push({ tokens, untilMs: this.#queue.nowMs + this.#settings.waitMs });
    this.#countWaiting();
    this.node.round(this.clockMs);
  }

  #serve(): void {
    while (this.#waiting.length > 0) {
      const { tokens, untilMs } = this.#waiting[0];
      if (untilMs >= this.#queue.nowMs) {
        if (!this.node.takeWaiting(tokens, this.clockMs)) break;
        this.#admit(tokens);
      }
      this.#waiting.shift();
    }
    this.#countWaiting();
  }

  #countWaiting(): void {
    this.node.waiting = this.#waiting.reduce((sum, { tokens }) => sum + tokens, 0);
  }

  #write(): void {
    for (const record of this.node.out.splice(0)) this.#log.append(record, this.#epoch);
  }
}

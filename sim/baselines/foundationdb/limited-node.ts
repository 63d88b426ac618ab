import type { BaselineEnvironment } from '../baseline.js';
import type { Member } from '../baseline-cluster.js';
import type { MessageBus } from '../message-bus.js';
import type { SimulatedProcess } from '../simulated-process.js';
import { type Limit, PUSH_MS, RATEKEEPER, type RateMessage } from './ratekeeper.js';
import type { ReleaseWindow } from './release-windows.js';

/** Bytes: envelope 40, tag 16, count and two costs 8 each. */
const USAGE_BYTES = 40 + 16 + 3 * 8;

/**
 * Starts transactions within the limit it last got, as client or proxy. Asks the ratekeeper at its start and each
 * second; before the first answer there is no limit.
 */
export class LimitedNode implements Member<RateMessage> {
  readonly #process: SimulatedProcess;
  readonly #bus: MessageBus<RateMessage>;
  readonly #window: ReleaseWindow;
  #units: Limit['units'] = [Infinity, Infinity];
  #transactions = 0;
  #cost: readonly [number, number] = [0, 0];

  constructor(
    process: SimulatedProcess,
    bus: MessageBus<RateMessage>,
    window: ReleaseWindow,
    { random }: BaselineEnvironment,
  ) {
    this.#process = process;
    this.#bus = bus;
    this.#window = window;
    process.after(0, () => this.#ask());
    process.every(PUSH_MS, random.between(0, PUSH_MS), () => this.#ask());
  }

  tryAcquire(messages: number, bytes: number): boolean {
    if (!this.#window.tryStart(this.#process.nowMs / 1000)) return false;
    this.#transactions++;
    this.#cost = [this.#cost[0] + messages, this.#cost[1] + bytes];
    return true;
  }

  limitOf(dimension: 0 | 1): number {
    return this.#units[dimension];
  }

  receive(message: RateMessage): void {
    if (message.kind !== 'limit') return;
    this.#units = message.units;
    this.#window.setLimit(message.perSecond, this.#process.nowMs / 1000);
  }

  setQuota(): void {}

  leave(): void {}

  #ask(): void {
    const usage = { kind: 'usage', transactions: this.#transactions, cost: this.#cost } as const;
    this.#transactions = 0;
    this.#cost = [0, 0];
    this.#bus.send(this.#process.node, RATEKEEPER, usage, USAGE_BYTES);
  }
}

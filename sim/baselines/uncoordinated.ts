import type { Baseline, BaselineEnvironment, Quota } from './baseline.js';
import { BaselineCluster, type Member } from './baseline-cluster.js';
import { MessageBus } from './message-bus.js';
import { PlainLimiter } from './plain-limiter.js';
import type { SimulatedProcess } from './simulated-process.js';

/**
 * Gives each node quota ÷ configured nodes, absent ones counted: never above the quota, and 1/N used with one
 * busy node (docs/background/max-min-fairness.md).
 */
export const STATIC = uncoordinated('static', 'quota ÷ configured nodes, never changed', ({ nodes }) => 1 / nodes);

/** Gives each node the whole quota, as Pulsar without a transport class. */
export const FULL_QUOTA = uncoordinated('full-quota', 'each node takes the whole quota', () => 1);

/** Makes a baseline without messages: each node takes the part `partOf` of quota and burst. */
function uncoordinated(name: string, says: string, partOf: (environment: BaselineEnvironment) => number): Baseline {
  return {
    name,
    says,
    create: (environment) => {
      const create = (process: SimulatedProcess, quota: Quota) =>
        new UncoordinatedMember(process, quota, partOf(environment), environment.burst);
      return new BaselineCluster(name, environment, new MessageBus<never>(environment), create);
    },
  };
}

type Depths = NonNullable<BaselineEnvironment['burst']>;

class UncoordinatedMember implements Member<never> {
  readonly #process: SimulatedProcess;
  readonly #part: number;
  readonly #depths: Depths;
  readonly #limiter = new PlainLimiter();

  constructor(process: SimulatedProcess, quota: Quota, part: number, [messages, bytes]: Depths = [null, null]) {
    this.#process = process;
    this.#part = part;
    // A bucket that holds no piece of work admits none.
    this.#depths = [messages && Math.max(1, messages * part), bytes && Math.max(1, bytes * part)];
    this.setQuota(quota);
  }

  setQuota({ messagesPerSecond, bytesPerSecond }: Quota): void {
    const part = this.#part;
    const rates = { messagesPerSecond: messagesPerSecond * part, bytesPerSecond: bytesPerSecond * part };
    this.#limiter.setRates(rates, this.#process.nowMs, this.#depths);
  }

  tryAcquire(messages: number, bytes: number, retry: boolean): boolean {
    return this.#limiter.tryAcquire(messages, bytes, retry, this.#process.nowMs);
  }

  limitOf(dimension: 0 | 1): number {
    return this.#limiter.rate(dimension);
  }

  receive(): void {}

  leave(): void {}
}

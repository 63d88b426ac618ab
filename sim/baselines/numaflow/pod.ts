import type { Reader } from '../../cluster/cluster-under-test.js';
import { type Quota, rateOf } from '../baseline.js';
import type { Member } from '../baseline-cluster.js';
import type { MessageBus } from '../message-bus.js';
import type { SimulatedProcess } from '../simulated-process.js';
import { EpochTokens, type RampSettings } from './epoch-tokens.js';
import type { PoolAnswer } from './pool-store.js';

export type StoreMessage =
  | { readonly kind: 'register' | 'deregister' }
  | { readonly kind: 'sync'; readonly size: number }
  | { readonly kind: 'registered'; readonly size: number }
  | { readonly kind: 'synced'; readonly answer: PoolAnswer };

export const STORE = 'store';
/** Milliseconds between syncs, and until the first message; the source has them as constants. */
const SYNC_MS = 100;
const WAIT_AFTER_AGREEMENT_MS = 1000;
/** Milliseconds until a failed pod restarts; the 10 s of Kubernetes would be to Numaflow's disadvantage. */
const START_AGAIN_MS = 1000;
/** Default ramp: from 1/s to the maximum in 1 s. */
export const DEFAULT_RAMP: PodRamp = { mode: 'relaxed', min: 1, max: null, rampSec: 1 };
/** Ramp; `max` null = the quota. */
export interface PodRamp extends Pick<RampSettings, 'mode' | 'min' | 'rampSec'> {
  readonly max: number | null;
}
/** Epoch second at which virtual time begins. */
const WALL_CLOCK_START_SEC = 1_700_000_000;
/** Bytes of a script call: hash 40, four keys of 40, arguments; a short answer. */
const CALL_BYTES = 240;
export const ANSWER_BYTES = 40;

/**
 * Runs a pod as shipped: registers, syncs until all agree, waits, serves; divides by the last agreed size, without end
 * while the store is away. A message is one token, but for readers of batches, which show coarse source tokens and a
 * buffer's excess deposits. Bytes are limited alike. Both favour Numaflow. Source:
 * docs/background/numaflow-throttling.md.
 */
export class Pod implements Member<StoreMessage> {
  readonly #process: SimulatedProcess;
  readonly #bus: MessageBus<StoreMessage>;
  readonly #quota: Quota;
  readonly #tokens: readonly (EpochTokens | null)[];
  readonly #ramp: PodRamp;
  /** Tokens of a source, one per read; made at the first. */
  #reads: EpochTokens | null = null;
  #phase: 'registering' | 'agreeing' | 'waiting' | 'serving' = 'registering';
  /** Pool size that it reports, and divides by. */
  #desired = 1;
  #known = 1;

  constructor(process: SimulatedProcess, quota: Quota, bus: MessageBus<StoreMessage>, ramp: PodRamp) {
    this.#process = process;
    this.#bus = bus;
    this.#quota = quota;
    this.#ramp = ramp;
    this.#tokens = ([0, 1] as const).map((dimension) => {
      const max = rateOf(quota, dimension);
      return max === Infinity ? null : new EpochTokens(this.#rampTo(max));
    });
    this.#register();
    process.every(SYNC_MS, SYNC_MS, () => this.#sync());
  }

  get isServing(): boolean {
    return this.#phase === 'serving';
  }

  tryAcquire(messages: number, bytes: number): boolean {
    if (!this.isServing) return false;
    const amounts = [messages, bytes];
    const epoch = this.#epoch;
    const isEnough = this.#tokens.every(
      (tokens, dimension) => tokens === null || tokens.available(this.#known, epoch) >= amounts[dimension],
    );
    if (!isEnough) return false;
    this.#tokens.forEach((tokens, dimension) => {
      tokens?.take(amounts[dimension], this.#known);
    });
    return true;
  }

  takeBatch(messages: number, reader: Reader): number {
    if (!this.isServing) return 0;
    return reader === 'buffer' ? this.#readBuffer(messages) : this.#readSource(messages);
  }

  limitOf(dimension: 0 | 1): number {
    if (!this.isServing) return 0;
    const rate = rateOf(this.#quota, dimension);
    return rate === Infinity ? rate : Math.floor(rate / this.#known);
  }

  receive(message: StoreMessage): void {
    if (message.kind === 'registered' && this.#phase === 'registering') {
      this.#desired = message.size;
      this.#phase = 'agreeing';
    }
    if (message.kind === 'synced' && this.#phase !== 'registering') this.#follow(message.answer);
  }

  leave(): void {
    this.#bus.send(this.#process.node, STORE, { kind: 'deregister' }, CALL_BYTES);
  }

  setQuota(): void {}

  get #epoch(): number {
    return WALL_CLOCK_START_SEC + Math.floor(this.#process.nowMs / 1000);
  }

  /** Reads from a buffer; as shipped it deposits the batch less the read. */
  #readBuffer(batch: number): number {
    const [tokens] = this.#tokens;
    if (tokens === null || tokens === undefined) return batch;
    const read = Math.min(tokens.available(this.#known, this.#epoch), batch);
    tokens.take(read, this.#known);
    tokens.deposit(batch - read, this.#known, this.#epoch);
    return read;
  }

  /** Reads from a source; as shipped a token buys a whole read: quota ÷ batch, rounded up. */
  #readSource(batch: number): number {
    const { messagesPerSecond } = this.#quota;
    if (messagesPerSecond === Infinity) return batch;
    const { min, max } = this.#rampTo(messagesPerSecond);
    this.#reads ??= new EpochTokens({ ...this.#ramp, min: Math.ceil(min / batch), max: Math.ceil(max / batch) });
    if (this.#reads.available(this.#known, this.#epoch) < 1) return 0;
    this.#reads.take(1, this.#known);
    return batch;
  }

  #rampTo(quota: number): RampSettings {
    const max = Math.min(quota, this.#ramp.max ?? quota);
    return { ...this.#ramp, min: Math.min(this.#ramp.min, max), max };
  }

  #register(): void {
    if (this.#phase !== 'registering') return;
    this.#bus.send(this.#process.node, STORE, { kind: 'register' }, CALL_BYTES);
    this.#process.after(START_AGAIN_MS, () => this.#register());
  }

  #sync(): void {
    if (this.#phase === 'registering') return;
    this.#bus.send(this.#process.node, STORE, { kind: 'sync', size: this.#desired }, CALL_BYTES);
  }

  #follow({ verdict, size }: PoolAnswer): void {
    this.#desired = size;
    if (verdict === 'DISAGREE') return;
    this.#known = size;
    if (this.#phase !== 'agreeing') return;
    this.#phase = 'waiting';
    this.#process.after(WAIT_AFTER_AGREEMENT_MS, () => {
      this.#phase = 'serving';
    });
  }
}

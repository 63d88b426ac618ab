import type { ReadRecord } from '../../../src/base/ports/report-topic.js';
import type { StrictWallet } from '../../../src/core/strict/strict-wallet.js';
import { KeyLanes } from '../../../src/node/strict/key-lanes.js';
import type { StrictBucket } from '../../../src/node/strict/strict-bucket.js';
import { encodeStrict, keyedLaneName, strictKeyOf } from '../../../src/node/strict/strict-codec.js';
import type { EventQueue } from '../../cluster/event-queue.js';
import type { KeyLog, KeyLogReader } from './key-log.js';

const ROUND_MS = 20;
/** Milliseconds without a request after which a lane is closed. */
const IDLE_MS = 10_000;
const CLUSTER = 'sim';
const TOTAL = { fromMs: 0, untilMs: null };

interface KeyProcessFacts {
  readonly node: string;
  readonly life: number;
  readonly what: 'slots' | 'budget';
  /** Slots, or tokens of a budget that never ends. */
  readonly depth: number;
  readonly clock: { readonly aheadMs: number; readonly drift: number };
}

/** A request that has entered. */
export interface EnteredKey {
  readonly process: KeyProcess;
  readonly bucket: StrictBucket;
  readonly wallet: StrictWallet;
}

/** Runs one node's lanes of keys in virtual time. */
export class KeyProcess implements KeyLogReader {
  readonly lanes: KeyLanes;
  isRunning = true;
  isFrozen = false;
  readonly #queue: EventQueue;
  readonly #log: KeyLog;
  readonly #facts: KeyProcessFacts;
  readonly #open = new Map<string, StrictBucket>();
  #epoch = '';
  #offset = -1;
  #thawed: (() => void)[] = [];

  constructor(queue: EventQueue, log: KeyLog, facts: KeyProcessFacts) {
    this.#queue = queue;
    this.#log = log;
    this.#facts = facts;
    this.lanes = new KeyLanes({
      cluster: CLUSTER,
      node: facts.node,
      life: facts.life,
      clock: () => this.clockMs,
      write: (lane, records) => {
        const rows = records.map((each) => ({ key: strictKeyOf(lane, each), value: encodeStrict(each, this.#epoch) }));
        log.append(rows, this.#epoch);
      },
      writeSteady: (key) => log.append([{ key, value: Buffer.from(this.#epoch) }], this.#epoch),
    });
    log.follow(this);
    this.#rounds();
  }

  get clockMs(): number {
    const { aheadMs, drift } = this.#facts.clock;
    return aheadMs + this.#queue.nowMs * (1 + drift);
  }

  /** Keys whose lanes are open. */
  get openKeys(): number {
    return this.#open.size;
  }

  beginEpoch(epoch: string): void {
    this.#whenThawed(() => {
      this.#epoch = epoch;
      this.#offset = -1;
      this.lanes.beginEpoch(epoch);
    });
  }

  caughtUp(): void {
    this.#whenThawed(() => this.lanes.caughtUp(this.#offset));
  }

  read(records: readonly ReadRecord[]): void {
    this.#whenThawed(() => {
      const touched = new Set<StrictBucket>();
      for (const record of records) {
        this.#offset = record.offset;
        this.lanes.read(record, touched);
      }
      for (const bucket of touched) bucket.round();
    });
  }

  /** Enters a key at once, or within `waitMs`. */
  enter(key: string, waitMs: number, entered: (held: EnteredKey) => void): void {
    this.#whenThawed(() => {
      const bucket = this.#bucketOf(key);
      const wallet = bucket.tryEnter();
      if (wallet !== null) entered({ process: this, bucket, wallet });
      else if (waitMs > 0) {
        bucket.enterLater(waitMs, (granted) => granted && entered({ process: this, bucket, wallet: granted }));
      }
    });
  }

  /** Spends one token of a key's budget, if it is here. */
  spend(key: string, spent: () => void): void {
    this.#whenThawed(() => {
      const bucket = this.#bucketOf(key);
      if (!bucket.tryAcquire(1)) return;
      bucket.wallet?.endRequest(1, 1);
      spent();
    });
  }

  freeze(forMs: number): void {
    this.isFrozen = true;
    this.#log.deafen(this, true);
    this.#queue.after(forMs, () => {
      if (!this.isRunning) return;
      this.isFrozen = false;
      this.#log.deafen(this, false);
      for (const run of this.#thawed.splice(0)) run();
    });
  }

  deafen(forMs: number): void {
    this.#log.deafen(this, true);
    this.#queue.after(forMs, () => this.isFrozen || this.#log.deafen(this, false));
  }

  leave(): void {
    this.lanes.closeAll();
    this.kill();
  }

  kill(): void {
    this.isRunning = false;
    this.#log.end(this);
  }

  #bucketOf(key: string): StrictBucket {
    const known = this.#open.get(key);
    if (known !== undefined) return known;
    const { what, depth } = this.#facts;
    const common = { amount: 0, perMs: 1, depth, keyed: true } as const;
    const quota = what === 'slots' ? { ...common, slots: true as const } : { ...common, budget: true as const };
    const bucket = this.lanes.open(keyedLaneName(CLUSTER, key, what), quota);
    this.#open.set(key, bucket);
    if (what === 'budget') bucket.beginPeriod(TOTAL, 0, this.#queue.nowMs);
    return bucket;
  }

  #rounds(): void {
    if (!this.isRunning) return;
    if (!this.isFrozen) {
      this.lanes.round(this.clockMs);
      for (const [key, bucket] of this.#open) {
        if (this.#facts.what === 'budget') bucket.beginPeriod(TOTAL, 0, this.#queue.nowMs);
        if (!bucket.isIdleFor(IDLE_MS)) continue;
        this.#open.delete(key);
        this.lanes.close(keyedLaneName(CLUSTER, key, this.#facts.what));
      }
    }
    this.#queue.after(ROUND_MS, () => this.#rounds());
  }

  #whenThawed(run: () => void): void {
    if (!this.isRunning) return;
    if (this.isFrozen) this.#thawed.push(run);
    else run();
  }
}

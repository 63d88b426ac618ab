import type { ReadRecord, RecordSignatures } from '../../base/ports/report-topic.js';
import type { Telemetry } from '../../base/ports/telemetry.js';
import type { KinWatch } from './kin-watch.js';
import { type Signer, UNVERIFIED_CAUSES, type UnverifiedCause } from './record-signature.js';

/** Most keys; more count as one, so that no writer fills the memory. */
const KEYS_MAX = 10_000;
/** Log lines per life and topic, one per key. */
const LINES_MAX = 20;

const KEYS_DIFFER =
  'Give all nodes the same topic.hmac.key (signatures.keyId in status names it), or change it as docs/operate/kafka-security.md says.';

interface SignatureBookOptions {
  readonly name: string;
  readonly keyId: string;
  readonly mode: 'require' | 'warn';
  readonly telemetry: Telemetry;
  /** Absent for the registry's topic, which has no heartbeats. */
  readonly kin?: KinWatch;
}

/** Collects the verdicts on a topic's signatures. */
export class SignatureBook implements RecordSignatures {
  readonly keyId: string;
  readonly mode: 'require' | 'warn';
  readonly verified: Record<Signer, number> = { key: 0, 'next-key': 0, 'previous-key': 0 };
  readonly unverified: Record<UnverifiedCause, number> = { unsigned: 0, 'unknown-key': 0, 'wrong-signature': 0 };
  readonly #options: SignatureBookOptions;
  /** Keys whose newest record has no key in force, nor the next. Settings decide about them. */
  readonly #open = new Map<string, Signer | UnverifiedCause>();
  #lines = 0;
  #lastUnverifiedMs = -Infinity;
  readonly #told = new Set<string>();
  #isToldApart = false;

  constructor(options: SignatureBookOptions) {
    this.#options = options;
    this.keyId = options.keyId;
    this.mode = options.mode;
  }

  /** Keys whose newest record nobody of the cluster has signed. */
  get unverifiedKeys(): number {
    return this.#count((state) => state !== 'previous-key');
  }

  /** Keys whose newest record has the previous key. */
  get previousKeys(): number {
    return this.#count((state) => state === 'previous-key');
  }

  get sinceUnverifiedMs(): number {
    return performance.now() - this.#lastUnverifiedMs;
  }

  get strangers(): number {
    return this.#options.kin?.strangers ?? 0;
  }

  get isApart(): boolean {
    return this.mode === 'require' && (this.#options.kin?.isApart ?? false);
  }

  /** Logs when the node begins and ends to be apart; returns `isApart`. */
  watchKin(): boolean {
    const { isApart, strangers, keyId } = this;
    if (isApart === this.#isToldApart) return isApart;
    this.#isToldApart = isApart;
    const { name, telemetry } = this.#options;
    if (isApart) {
      const facts = { strangers, keyId, remedy: KEYS_DIFFER };
      telemetry.log('error', `no other node signs the ${name} with the key of this one, and others write to it`, facts);
    } else
      telemetry.log('info', `other nodes sign the ${name} as this one does, or nobody else writes to it`, { keyId });
    return isApart;
  }

  /** Counts a record; returns true if one of our keys has signed it. */
  read(record: ReadRecord, verdict: Signer | UnverifiedCause): boolean {
    if (isCause(verdict)) {
      this.unverified[verdict]++;
      this.#lastUnverifiedMs = performance.now();
      this.#tell(record, verdict);
    } else {
      this.verified[verdict]++;
    }
    this.#options.kin?.read(record.key, !isCause(verdict));
    if (verdict !== 'key' && verdict !== 'next-key') this.#keep(addressOf(record), verdict);
    else if (this.#open.size > 0) this.#open.delete(addressOf(record));
    return !isCause(verdict);
  }

  /** Begins another log, without unverified keys; counts and log lines go on. */
  epochBegan(): void {
    this.#open.clear();
    this.#options.kin?.epochBegan();
  }

  buried(record: ReadRecord): void {
    this.#open.delete(addressOf(record));
  }

  #keep(address: string, verdict: Signer | UnverifiedCause): void {
    if (this.#open.size < KEYS_MAX || this.#open.has(address)) this.#open.set(address, verdict);
  }

  #count(isMeant: (state: Signer | UnverifiedCause) => boolean): number {
    let count = 0;
    for (const state of this.#open.values()) if (isMeant(state)) count++;
    return count;
  }

  #tell({ partition, offset, key }: ReadRecord, cause: UnverifiedCause): void {
    const { name, mode, telemetry } = this.#options;
    if (this.#lines >= LINES_MAX || this.#told.has(key)) return;
    this.#told.add(key);
    this.#lines++;
    const what = mode === 'require' ? 'ignored' : 'accepted, because hmac.verify is warn';
    telemetry.log('warn', `a record of the ${name} is not signed by this cluster; ${what}`, {
      key,
      cause,
      partition,
      offset,
      unverified: this.unverifiedKeys,
      ...(this.#lines === LINES_MAX ? { further: 'only counted' } : {}),
    });
  }
}

function isCause(verdict: Signer | UnverifiedCause): verdict is UnverifiedCause {
  return (UNVERIFIED_CAUSES as readonly string[]).includes(verdict);
}

function addressOf({ partition, key }: ReadRecord): string {
  return `${partition}:${key}`;
}

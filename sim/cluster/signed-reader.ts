import { nodeKeyOf } from '../../src/core/base/ids.js';
import type { ReadEvent } from '../../src/core/base/protocol/events-and-effects.js';
import { isGroupStateKey, nodeRecordKey } from '../../src/core/base/protocol/record.js';
import type { CoordinatorSettings } from '../../src/core/base/settings.js';
import { KinWatch } from '../../src/topic/signed/kin-watch.js';
import { WithheldRecords } from '../../src/topic/signed/withheld-records.js';
import type { SignedEvent } from './simulated-topic.js';

/**
 * Verifies as src/topic/signed/signed-topic.ts with `verify: require`, by names of keys in place of signatures;
 * production decides on kin and withheld records.
 */
export class SignedReader {
  readonly #signingKey: string;
  readonly #kin: KinWatch;
  readonly #withheld = new WithheldRecords<ReadEvent>();
  /** By partition and key: the newest record is not verified. */
  readonly #overwritten = new Set<string>();
  #isCaughtUp = false;

  constructor(signingKey: string, settings: CoordinatorSettings, clock: () => number) {
    this.#signingKey = signingKey;
    const { cluster, nodeId, isolationAfterMs: kinMs, stalenessMs: strangerMs } = settings;
    const ownKey = nodeRecordKey(nodeKeyOf(cluster, nodeId));
    this.#kin = new KinWatch({ ownKey, kinMs, strangerMs }, clock);
  }

  epochBegan(): void {
    this.#isCaughtUp = false;
    this.#overwritten.clear();
    this.#kin.epochBegan();
    this.#withheld.epochBegan();
  }

  caughtUp(): void {
    this.#isCaughtUp = true;
  }

  /** Tests if another key signed the newest record under a key. */
  isOverwritten(partition: number, key: string): boolean {
    return this.#overwritten.has(`${partition}:${key}`);
  }

  believed(records: readonly SignedEvent[]): readonly ReadEvent[] {
    const believed: ReadEvent[] = [];
    for (const read of records) {
      const isVerified = read.signedWith === this.#signingKey;
      if (!isVerified) this.#overwritten.add(`${read.partition}:${read.key}`);
      else if (this.#overwritten.size > 0) this.#overwritten.delete(`${read.partition}:${read.key}`);
      if (isVerified) believed.push(read);
      else if (isGroupStateKey(read.key)) believed.push({ ...read, record: null });
      if (read.record !== null || !isVerified) this.#kin.read(read.key, isVerified);
    }
    return this.#withheld.pass(believed, this.#kin.isApart && this.#isCaughtUp);
  }
}

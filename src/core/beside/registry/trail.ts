import { type AuditRecord, auditIdOf } from './registry-record.js';

/**
 * The trail of changes: the newest accepted ones, of all groups together, in the order of the log. Each is a record
 * with a key of its own; what falls out at the old end is freed by tombstones, so that the topic stays bounded.
 *
 * A change is *missing* from the moment it was accepted until its record is known to be in the log. One that detached
 * others has a record for each of them, all with its revision; none of these is told while another one is missing.
 */
export class Trail {
  readonly #most: number;
  /** By revision, rising; those of one revision by name. */
  #kept: AuditRecord[] = [];
  /** Changes up to this revision have fallen out and are not kept. */
  #floor: Cursor = { revision: 0, group: LAST };
  /** Changes whose records have not been read yet, by `auditIdOf`. */
  readonly #missing = new Map<string, Missing>();
  /** Kept changes that the log is about to lose (signatures expire soon, or the log is another one), by `auditIdOf`. */
  readonly #toRenew = new Map<string, Missing>();
  /** Groups whose records are in the log without being kept, until they are seen to be freed. */
  readonly #fallen = new Map<string, Fallen>();

  /** @param most changes that are kept; the nodes of a cluster should agree */
  constructor(most: number) {
    this.#most = most;
  }

  /**
   * At most `most` kept changes behind a revision, of one entry or of all.
   *
   * @param group of the last one that is known of this revision; absent = all of it is
   */
  after(revision: number, most: number, name: string | null, group = LAST): AuditRecord[] {
    const found: AuditRecord[] = [];
    const incomplete = new Set<number>();
    for (const { record } of this.#missing.values()) incomplete.add(record.revision);
    for (let at = this.#firstAbove({ revision, group }); at < this.#kept.length && found.length < most; at++) {
      const record = this.#kept[at];
      if ((name === null || record.group === name) && !incomplete.has(record.revision)) found.push(record);
    }
    return found;
  }

  get size(): number {
    return this.#kept.length;
  }

  /** Adds a change that was accepted, as this node has just read. */
  expect(record: AuditRecord, nowMs: number): void {
    if (!this.#has(record)) this.#missing.set(auditIdOf(record), { record, sinceMs: nowMs });
  }

  /** Called when another log begins: what is kept is written into it, unless it is found there. */
  sayAgain(nowMs: number): void {
    this.#fallen.clear();
    for (const record of this.#kept) this.#toRenew.set(auditIdOf(record), { record, sinceMs: nowMs });
  }

  /** Records that have to be in the log before a state of these groups is. */
  missingOf(groups: ReadonlySet<string>): AuditRecord[] {
    return [...this.#missing.values()].flatMap(({ record }) => (groups.has(record.group) ? [record] : []));
  }

  /** Called when its record is in the log, perhaps with a signature that will expire soon. */
  keep(record: AuditRecord, nowMs: number, isToRenew = false): void {
    const auditId = auditIdOf(record);
    this.#missing.delete(auditId);
    this.#toRenew.delete(auditId);
    if (isToRenew && isAbove(record, this.#floor)) this.#toRenew.set(auditId, { record, sinceMs: nowMs });
    if (!isAbove(record, this.#floor)) this.#fallen.set(auditId, { sinceMs: nowMs, isTaken: false });
    else if (!this.#has(record)) this.#kept.splice(this.#firstAbove(record), 0, record);
    if (this.#kept.length <= this.#most) return;
    for (const oldest of this.#kept.splice(0, this.#kept.length - this.#most)) {
      const auditId = auditIdOf(oldest);
      this.#floor = oldest;
      this.#toRenew.delete(auditId);
      this.#fallen.set(auditId, { sinceMs: nowMs, isTaken: false });
    }
  }

  /** This record is no longer in the log. */
  freed(auditId: string): void {
    this.#fallen.delete(auditId);
    this.#toRenew.delete(auditId);
    const revision = Number.parseInt(auditId, 10);
    for (let at = this.#firstAbove({ revision, group: '' }); this.#kept[at]?.revision === revision; at++) {
      if (auditIdOf(this.#kept[at]) === auditId) this.#kept.splice(at, 1);
    }
  }

  /** The oldest changes that have fallen out: a node frees as many as it has just added. */
  takeFallen(count: number, nowMs: number): string[] {
    return this.#take(count, nowMs, ({ isTaken }) => !isTaken);
  }

  /** Records that should have been freed long ago. */
  takeStale(nowMs: number, patienceMs: number): string[] {
    return this.#take(STALE_AT_ONCE, nowMs, ({ sinceMs }) => nowMs - sinceMs > patienceMs);
  }

  /** Changes that others should have written long ago, for the first time or again. */
  takeOverdue(nowMs: number, patienceMs: number): AuditRecord[] {
    const overdue: AuditRecord[] = [];
    const take = (waiting: Iterable<Missing>, most: number) => {
      for (const one of waiting) {
        if (overdue.length >= most) return;
        if (nowMs - one.sinceMs <= patienceMs) continue;
        one.sinceMs = nowMs;
        overdue.push(one.record);
      }
    };
    take(this.#missing.values(), Infinity);
    take(this.#toRenew.values(), RENEWED_AT_ONCE);
    return overdue;
  }

  #take(most: number, nowMs: number, isMeant: (fallen: Fallen) => boolean): string[] {
    const taken: string[] = [];
    for (const [auditId, fallen] of this.#fallen) {
      if (taken.length >= most) break;
      if (!isMeant(fallen)) continue;
      fallen.isTaken = true;
      fallen.sinceMs = nowMs;
      taken.push(auditId);
    }
    return taken;
  }

  #has({ revision, group }: AuditRecord): boolean {
    const found = this.#kept[this.#firstAbove({ revision, group }) - 1];
    return found?.revision === revision && found.group === group;
  }

  /** The index of the first record behind the cursor. */
  #firstAbove(cursor: Cursor): number {
    let [low, high] = [0, this.#kept.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (isAbove(this.#kept[middle], cursor)) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}

/** Stands between the records that are kept: behind the one with this revision and group. */
type Cursor = Pick<AuditRecord, 'revision' | 'group'>;

/** A string that sorts behind all names. */
const LAST = '\uffff';

function isAbove({ revision, group }: Cursor, other: Cursor): boolean {
  return revision === other.revision ? group > other.group : revision > other.revision;
}

interface Fallen {
  sinceMs: number;
  /** True once this node has sent its tombstone. */
  isTaken: boolean;
}

/** Freed per second and node where a writer has died in the middle; some KB. */
const STALE_AT_ONCE = 1000;

/** Records of one append that are written again: some hundred KB at most, as with states. */
const RENEWED_AT_ONCE = 200;

interface Missing {
  readonly record: AuditRecord;
  sinceMs: number;
}

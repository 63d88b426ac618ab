import { RENEWED_AT_ONCE, STALE_AT_ONCE } from '../constants.js';
import { type AuditRecord, auditIdOf } from './registry-record.js';

/**
 * Keeps the newest accepted changes of all groups, in log order. Each is a record with its own key; tombstones free
 * those that fall out. A change is *missing* from its acceptance until its record is read in the log. A change with
 * detachments has a record for each, all of its revision; none is shown while another is missing.
 */
export class Trail {
  readonly #most: number;
  /** By rising revision, then name. */
  #kept: AuditRecord[] = [];
  /** Last change that has fallen out. */
  #floor: Cursor = { revision: 0, group: LAST };
  /** Changes whose records are unread, by `auditIdOf`. */
  readonly #missing = new Map<string, Missing>();
  /** Kept changes that the log will lose, by `auditIdOf`: signatures expire, or another log began. */
  readonly #toRenew = new Map<string, Missing>();
  /** Changes in the log that are not kept, until freed, by `auditIdOf`. */
  readonly #fallen = new Map<string, Fallen>();

  /** @param most changes kept; nodes of a cluster should agree */
  constructor(most: number) {
    this.#most = most;
  }

  /**
   * Lists up to `most` changes behind a revision, all or one entry's. @param group last known one of this revision;
   * absent = all of it
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

  /** Adds a change accepted just now. */
  expect(record: AuditRecord, nowMs: number): void {
    if (!this.#has(record)) this.#missing.set(auditIdOf(record), { record, sinceMs: nowMs });
  }

  /** Begins another log: kept changes are written into it, unless found there. */
  sayAgain(nowMs: number): void {
    this.#fallen.clear();
    for (const record of this.#kept) this.#toRenew.set(auditIdOf(record), { record, sinceMs: nowMs });
  }

  /** Lists records that must precede states of these groups. */
  missingOf(groups: ReadonlySet<string>): AuditRecord[] {
    return [...this.#missing.values()].flatMap(({ record }) => (groups.has(record.group) ? [record] : []));
  }

  /** Notes a record in the log, perhaps with an expiring signature. */
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

  /** Notes a record that left the log. */
  freed(auditId: string): void {
    this.#fallen.delete(auditId);
    this.#toRenew.delete(auditId);
    const revision = Number.parseInt(auditId, 10);
    for (let at = this.#firstAbove({ revision, group: '' }); this.#kept[at]?.revision === revision; at++) {
      if (auditIdOf(this.#kept[at]) === auditId) this.#kept.splice(at, 1);
    }
  }

  /** Takes the oldest fallen changes: as many as the node has just added. */
  takeFallen(count: number, nowMs: number): string[] {
    return this.#take(count, nowMs, ({ isTaken }) => !isTaken);
  }

  /** Takes records that should have been freed long ago. */
  takeStale(nowMs: number, patienceMs: number): string[] {
    return this.#take(STALE_AT_ONCE, nowMs, ({ sinceMs }) => nowMs - sinceMs > patienceMs);
  }

  /** Takes changes that others should have written long ago. */
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

  /** Finds the first record behind the cursor. */
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

/** Place between kept records: behind this revision and group. */
type Cursor = Pick<AuditRecord, 'revision' | 'group'>;

/** Sorts behind all names. */
const LAST = '\uffff';

function isAbove({ revision, group }: Cursor, other: Cursor): boolean {
  return revision === other.revision ? group > other.group : revision > other.revision;
}

interface Fallen {
  sinceMs: number;
  /** True = this node has sent its tombstone. */
  isTaken: boolean;
}

interface Missing {
  readonly record: AuditRecord;
  sinceMs: number;
}

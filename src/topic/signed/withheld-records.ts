/** Records above which only each key's newest is kept: some minutes' worth. */
const RECORDS_MAX = 10_000;

interface Keyed {
  readonly partition: number;
  readonly key: string;
}

/**
 * Withholds records from a node that is apart (KinWatch). It gets them afterwards: others have read them, and know more
 * of it than itself. All are signed with its key, so none are foreign.
 */
export class WithheldRecords<Kept extends Keyed> {
  #kept: Kept[] = [];

  /** Takes records; returns those that may pass now, in log order. */
  pass(records: Kept[], isWithheld: boolean): Kept[] {
    if (!isWithheld && this.#kept.length === 0) return records;
    for (const record of records) this.#kept.push(record);
    if (isWithheld) {
      if (this.#kept.length > RECORDS_MAX) this.#kept = newestOfKeys(this.#kept);
      return [];
    }
    const passed = this.#kept;
    this.#kept = [];
    return passed;
  }

  /** Begins another log, without the records of the old. */
  epochBegan(): void {
    this.#kept = [];
  }
}

function newestOfKeys<Kept extends Keyed>(records: readonly Kept[]): Kept[] {
  const newest = new Map(records.map((record) => [`${record.partition}:${record.key}`, record]));
  return records.filter((record) => newest.get(`${record.partition}:${record.key}`) === record);
}

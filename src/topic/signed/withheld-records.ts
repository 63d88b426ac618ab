/** Beyond as many, the newest of each key stays: those of some minutes. */
const RECORDS_MAX = 10_000;

interface Keyed {
  readonly partition: number;
  readonly key: string;
}

/**
 * What a node is not given while it is alone among strangers (KinWatch). It is given afterwards, because the other
 * nodes have read it: without, what this node knows of itself would be older than what they know, until it says it
 * again. All of them are signed with the node's own key, so no stranger can add to them.
 */
export class WithheldRecords<Kept extends Keyed> {
  #kept: Kept[] = [];

  /** What may be given now, in the order of the log. */
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

  /** Another log begins: what the one before has told means nothing. */
  epochBegan(): void {
    this.#kept = [];
  }
}

function newestOfKeys<Kept extends Keyed>(records: readonly Kept[]): Kept[] {
  const newest = new Map(records.map((record) => [`${record.partition}:${record.key}`, record]));
  return records.filter((record) => newest.get(`${record.partition}:${record.key}`) === record);
}

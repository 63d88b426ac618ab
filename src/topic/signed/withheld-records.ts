/** Beyond this number, reached after some minutes, only the newest record of each key is kept. */
const RECORDS_MAX = 10_000;

interface Keyed {
  readonly partition: number;
  readonly key: string;
}

/**
 * The records that a node is not given while it is alone among strangers (KinWatch). It is given them afterwards,
 * because the other nodes have read them; otherwise this node would know less of itself than they do until it writes
 * again. All of them are signed with the node's own key, so no stranger can add to them.
 */
export class WithheldRecords<Kept extends Keyed> {
  #kept: Kept[] = [];

  /** Takes records as they are read, and returns those that may be given now, in the order of the log. */
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

  /** Called when another log begins: the records of the old one mean nothing. */
  epochBegan(): void {
    this.#kept = [];
  }
}

function newestOfKeys<Kept extends Keyed>(records: readonly Kept[]): Kept[] {
  const newest = new Map(records.map((record) => [`${record.partition}:${record.key}`, record]));
  return records.filter((record) => newest.get(`${record.partition}:${record.key}`) === record);
}

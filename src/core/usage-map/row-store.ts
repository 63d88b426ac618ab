/**
 * Rows of the usage map in columns: one row is what one node reported for one lane. 500,000 rows (100 nodes × 5,000
 * groups) take 25 MB here and over 75 MB as objects. Float32 loses nothing: the wire carries float32.
 */
export class RowStore {
  /** Member slot that reported the row. */
  member = new Uint32Array(INITIAL_ROWS);
  /** Map lane (index of the usage map) that the row belongs to. */
  lane = new Uint32Array(INITIAL_ROWS);
  /** Next row of the same lane in order of NodeKey, or −1. */
  next = new Int32Array(INITIAL_ROWS);
  topics = new Uint32Array(INITIAL_ROWS);
  usage: [Float32Array, Float32Array] = [new Float32Array(INITIAL_ROWS), new Float32Array(INITIAL_ROWS)];
  demand: [Float32Array, Float32Array] = [new Float32Array(INITIAL_ROWS), new Float32Array(INITIAL_ROWS)];
  share: [Float32Array, Float32Array] = [new Float32Array(INITIAL_ROWS), new Float32Array(INITIAL_ROWS)];
  /** Local monotonic time at which the row was read, ms. Float32 would be too coarse after some hours. */
  readMs = new Float64Array(INITIAL_ROWS);
  /** Partition whose log the row was read from, and its log time then, whole ms modulo 2³² (see `ageMs`). */
  partition = new Uint8Array(INITIAL_ROWS);
  logMs = new Uint32Array(INITIAL_ROWS);
  readonly #free: number[] = [];
  #used = 0;

  get count(): number {
    return this.#used - this.#free.length;
  }

  allocate(): number {
    const reused = this.#free.pop();
    if (reused !== undefined) return reused;
    if (this.#used === this.member.length) this.#grow();
    return this.#used++;
  }

  /** Log time since the row was read, given that of its partition now: right below 49 days, and reports are forced. */
  ageMs(row: number, nowLogMs: number): number {
    return (Math.floor(nowLogMs) - (this.logMs[row] as number)) >>> 0;
  }

  release(row: number): void {
    this.#free.push(row);
  }

  #grow(): void {
    this.member = enlarged(this.member, Uint32Array);
    this.lane = enlarged(this.lane, Uint32Array);
    this.next = enlarged(this.next, Int32Array);
    this.topics = enlarged(this.topics, Uint32Array);
    this.usage = [enlarged(this.usage[0], Float32Array), enlarged(this.usage[1], Float32Array)];
    this.demand = [enlarged(this.demand[0], Float32Array), enlarged(this.demand[1], Float32Array)];
    this.share = [enlarged(this.share[0], Float32Array), enlarged(this.share[1], Float32Array)];
    this.readMs = enlarged(this.readMs, Float64Array);
    this.partition = enlarged(this.partition, Uint8Array);
    this.logMs = enlarged(this.logMs, Uint32Array);
  }
}

const INITIAL_ROWS = 256;

type Column = Uint8Array | Uint32Array | Int32Array | Float32Array | Float64Array;

function enlarged<T extends Column>(column: T, make: new (length: number) => T): T {
  const larger = new make(column.length * 2);
  larger.set(column);
  return larger;
}

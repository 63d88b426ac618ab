/**
 * Says whose turn it is to give its socket a piece. Anyone's, while all sockets together hold less than three eighths
 * of the bound of held bytes. Beyond that writers stand in line, and sockets of which meanwhile nothing is taken end.
 */
export class WriteLine {
  readonly #maxHeldBytes: number;
  /** Bytes in the sockets, by writer. */
  readonly #unsent = new Map<Writer, { bytes: number; progress: number }>();
  #unsentBytes = 0;
  /** Writers whose turn has not come, in the order of asking. */
  readonly #line = new Set<Writer>();
  #isMoving = false;
  /** Progress by writer when the line was looked at last. */
  #stood = new Map<Writer, number>();
  #isLookPlanned = false;

  constructor(maxHeldBytes: number) {
    this.#maxHeldBytes = maxHeldBytes;
  }

  /** Lets a writer write a piece now, or calls it in turn. */
  mayWrite(writer: Writer): boolean {
    if (this.#line.size === 0 && this.#hasRoom) return true;
    this.#line.add(writer);
    this.#planLook();
    return false;
  }

  leave(writer: Writer): void {
    this.#line.delete(writer);
  }

  /** Counts what a writer's socket holds. @param progress of its client, any number that changes with it */
  setUnsent(writer: Writer, bytes: number, progress: number): void {
    const before = this.#unsent.get(writer)?.bytes ?? 0;
    if (bytes + before === 0) return;
    this.#unsentBytes += bytes - before;
    if (bytes === 0) this.#unsent.delete(writer);
    else this.#unsent.set(writer, { bytes, progress });
    this.#moveOn();
  }

  get #hasRoom(): boolean {
    return this.#unsentBytes < SOCKETS_RATIO * this.#maxHeldBytes;
  }

  #moveOn(): void {
    // A writer's piece is counted, which comes here again.
    if (this.#isMoving) return;
    this.#isMoving = true;
    for (const writer of this.#line) {
      if (!this.#hasRoom) break;
      this.#line.delete(writer);
      writer.goOn();
    }
    this.#isMoving = false;
  }

  #planLook(): void {
    if (this.#isLookPlanned) return;
    this.#isLookPlanned = true;
    const look = () => {
      this.#isLookPlanned = false;
      this.#look();
    };
    // After a long turn the system is asked first what it has taken, and TLS passes it on in the next turn.
    setTimeout(() => setImmediate(() => setImmediate(look)), LOOK_EVERY_MS).unref();
  }

  /** Ends writers whose sockets took nothing since the last look. Others must be waiting. */
  #look(): void {
    for (const [writer, progress] of this.#stood) {
      if (this.#line.size > 0 && this.#unsent.get(writer)?.progress === progress) writer.cutOff('held-full');
    }
    this.#stood = new Map();
    if (this.#line.size === 0) return;
    for (const [writer, { progress }] of this.#unsent) this.#stood.set(writer, progress);
    this.#planLook();
  }
}

interface Writer {
  /** Writes one piece to its socket. */
  goOn(): void;
  cutOff(reason: string): void;
}

/** Part of the bound; more leaves less of its half to queues of other clients, which get none of it at a half. */
const SOCKETS_RATIO = 3 / 8;
/** Milliseconds. A larger value spares clients that read slowly; a smaller one those that wait behind them. */
const LOOK_EVERY_MS = 500;

interface Holder {
  cutOff(reason: string): void;
}

interface Writer extends Holder {
  /** Writes one piece to its socket. */
  goOn(): void;
}

/**
 * Bounds the bytes that all connections hold. They are those read and those to be sent. Beyond it connections end:
 * first those whose client is waited for (half a large packet, unread bytes), then those whose packets wait for their
 * turn; the longest first. What is written in one turn stands above the bound until its clients had theirs to read.
 * Large payloads are counted once, however many wait for them. They go to the sockets while these hold less than three
 * eighths of the bound. Beyond that their writers stand in line; sockets of which meanwhile nothing is taken end.
 */
export class HeldBytes {
  readonly #maxBytes: number;
  readonly #counts: { heldBytes: number };
  /** Bytes by holder, the longest first. */
  readonly #holding = new Map<Holder, number>();
  /** Progress by holder whose client is waited for; who has made none for longest first. */
  readonly #awaited = new Map<Holder, number>();
  /** The same, of those whose client had no turn yet to read: TLS takes a large message over in the next. */
  #fresh = new Map<Holder, number>();
  /** Those whose turn to read runs: the system is being asked what it has taken. */
  #ripening = new Map<Holder, number>();
  #isTurnPlanned = false;
  #isEnding = false;
  /** Waiting copies by payload. */
  readonly #shared = new Map<Buffer, number>();
  /** Bytes in the sockets, by writer. */
  readonly #unsent = new Map<Writer, { bytes: number; progress: number }>();
  #unsentBytes = 0;
  /** Writers whose turn has not come, in the order of asking. */
  readonly #line = new Set<Writer>();
  /** Progress by writer when the line was looked at last. */
  #stood = new Map<Writer, number>();
  #isLookPlanned = false;
  #isMoving = false;

  constructor(maxBytes: number, counts: { heldBytes: number }) {
    this.#maxBytes = maxBytes;
    this.#counts = counts;
  }

  /**
   * Bounds the bytes read ahead of one client, or queued for it: a part of what is free of the first half. *Worked:* of
   * 64 MiB, one holds 1.9 MiB, 100 hold 280 KiB each.
   */
  get partBytes(): number {
    return Math.max(0, this.#maxBytes / 2 - this.#counts.heldBytes) / PARTS;
  }

  /** @param progress of the client, any number that changes with it; counts while `awaitedBytes` are many */
  set(holder: Holder, bytes: number, awaitedBytes: number, progress: number): void {
    this.#noteAwaited(holder, awaitedBytes, progress);
    const before = this.#holding.get(holder) ?? 0;
    if (bytes === before) return;
    if (bytes === 0) this.#holding.delete(holder);
    else this.#holding.set(holder, bytes);
    this.#counts.heldBytes += bytes - before;
    this.#enforce();
  }

  delete(holder: Holder): void {
    this.set(holder, 0, 0, 0);
  }

  /** Counts a payload that waits for one more client. */
  share(payload: Buffer): void {
    const copies = this.#shared.get(payload) ?? 0;
    this.#shared.set(payload, copies + 1);
    if (copies === 0) this.#counts.heldBytes += payload.length;
  }

  unshare(payload: Buffer): void {
    const copies = this.#shared.get(payload)!;
    if (copies > 1) this.#shared.set(payload, copies - 1);
    else if (this.#shared.delete(payload)) this.#counts.heldBytes -= payload.length;
  }

  /** Lets a writer give its socket a piece, or calls it in its turn. */
  mayWrite(writer: Writer): boolean {
    if (this.#line.size === 0 && this.#hasRoom) return true;
    this.#line.add(writer);
    this.#planLook();
    return false;
  }

  leave(writer: Writer): void {
    this.#line.delete(writer);
  }

  /** Counts what a writer's socket holds; it is in `set` as well. */
  setUnsent(writer: Writer, bytes: number, progress: number): void {
    const before = this.#unsent.get(writer)?.bytes ?? 0;
    if (bytes + before === 0) return;
    this.#unsentBytes += bytes - before;
    if (bytes === 0) this.#unsent.delete(writer);
    else this.#unsent.set(writer, { bytes, progress });
    this.#moveOn();
  }

  get #hasRoom(): boolean {
    return this.#unsentBytes < SOCKETS_RATIO * this.#maxBytes;
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

  /** Ends those of which nothing was taken from one look to the next, as long as others wait. */
  #look(): void {
    for (const [writer, progress] of this.#stood) {
      if (this.#line.size > 0 && this.#unsent.get(writer)?.progress === progress) writer.cutOff('held-full');
    }
    this.#stood = new Map();
    if (this.#line.size === 0) return;
    for (const [writer, { progress }] of this.#unsent) this.#stood.set(writer, progress);
    this.#planLook();
  }

  #noteAwaited(holder: Holder, bytes: number, progress: number): void {
    const isAwaited = bytes >= LARGE_BYTES;
    const generations = [this.#fresh, this.#ripening, this.#awaited];
    if (isAwaited && generations.some((generation) => generation.get(holder) === progress)) return;
    for (const generation of generations) generation.delete(holder);
    if (!isAwaited) return;
    this.#fresh.set(holder, progress);
    this.#planTurn();
  }

  #planTurn(): void {
    if (this.#isTurnPlanned) return;
    this.#isTurnPlanned = true;
    setImmediate(() => {
      this.#isTurnPlanned = false;
      this.#ripen();
    });
  }

  #ripen(): void {
    for (const [holder, progress] of this.#ripening) this.#awaited.set(holder, progress);
    this.#ripening = this.#fresh;
    this.#fresh = new Map();
    if (this.#ripening.size > 0) this.#planTurn();
    this.#enforce();
  }

  #enforce(): void {
    // To end one counts its bytes anew, which comes here again.
    if (this.#isEnding) return;
    this.#isEnding = true;
    // The last one stays: a packet above the bound gets through alone.
    while (this.#counts.heldBytes > this.#maxBytes && this.#holding.size > 1) {
      const isEarly = this.#awaited.size === 0 && this.#fresh.size + this.#ripening.size > 0;
      const [oldest] = this.#awaited.size > 0 ? this.#awaited.keys() : this.#holding.keys();
      if (isEarly || oldest === undefined) break;
      oldest.cutOff('held-full');
      this.delete(oldest);
    }
    this.#isEnding = false;
  }
}

/** Parts of the free half; more leaves more to later clients, and reads each less far ahead for pings. */
const PARTS = 16;
const LARGE_BYTES = 4096;
/** Part of the bound that sockets hold: below a half, so that queues of other clients have some of that half left. */
const SOCKETS_RATIO = 3 / 8;
/** Milliseconds; more is patient with clients that read slowly, less with those behind clients that do not read. */
const LOOK_EVERY_MS = 500;

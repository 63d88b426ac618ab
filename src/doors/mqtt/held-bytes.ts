/**
 * Bounds the bytes that all connections hold. They are those read and those to be sent. Beyond it connections end:
 * first those whose client is waited for (half a large packet, unread bytes), then those whose packets wait for their
 * turn; the longest first. What is written in one turn stands above the bound until its clients had theirs to read.
 * Large payloads are counted once, however many wait for them.
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

interface Holder {
  cutOff(reason: string): void;
}

/** Parts of the free half; more leaves more to later clients, and reads each less far ahead for pings. */
const PARTS = 16;
/** Bytes waited for; more spares who owes less, and ends sooner those whose packets wait for their turn. */
const LARGE_BYTES = 4096;

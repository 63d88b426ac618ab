import type { GatedConnection } from './gated-connection.js';
import type { HeldBytes } from './held-bytes.js';
import type { MqttCounts } from './mqtt-counts.js';
import { apart, type PublishHead, publishHead } from './packets.js';
import { KEPT_BYTES } from './room-taken.js';

export interface DispatchRules {
  /** Beyond it QoS 0 is dropped and other publishers wait; beyond twice as many the subscriber is cut off. */
  readonly maxMessages: number;
  /** Beyond it the subscriber is cut off. */
  readonly maxBytes: number;
  readonly notReadingMs: number;
  /** Lets a message go at once; if not, it counts as demand from now on. */
  readonly tryAdmit: (connection: GatedConnection, head: PublishHead) => boolean;
  /** Resolves when it may go; false = it is dropped. */
  readonly admit: (connection: GatedConnection, head: PublishHead, isCounted: boolean) => Promise<boolean>;
  readonly counts: Pick<MqttCounts, 'dispatched' | 'dropped' | 'queued'>;
}

interface Waiting {
  readonly packet: Buffer;
  readonly payload: Buffer;
  /** Bytes that it takes in memory. */
  readonly bytes: number;
  readonly head: PublishHead;
  readonly isCounted: boolean;
  /** Called when it has left the queue. */
  left?: () => void;
}

export class DispatchQueue {
  readonly #connection: GatedConnection;
  readonly #rules: DispatchRules;
  readonly #held: HeldBytes;
  readonly #queue: Waiting[] = [];
  readonly #publishers = new Set<GatedConnection>();
  #bytes = 0;
  /** Part of `bytes` that HeldBytes counts once for all queues. */
  #sharedBytes = 0;
  #isRunning = false;
  #isClosed = false;
  #onRoom: (() => void) | null = null;
  /** Last progress of the client: when, and bytes taken by then. */
  #progress = { atMs: 0, bytes: -1 };

  constructor(connection: GatedConnection, rules: DispatchRules, held: HeldBytes) {
    this.#connection = connection;
    this.#rules = rules;
    this.#held = held;
  }

  get messages(): number {
    return this.#queue.length;
  }

  /** Bytes in memory that it alone holds. */
  get #ownBytes(): number {
    return this.#bytes - this.#sharedBytes;
  }

  /** True = QoS 0 is dropped; publishers of QoS 1 and 2 wait. */
  get isFull(): boolean {
    const { maxMessages, maxBytes } = this.#rules;
    return this.#queue.length >= maxMessages || this.#ownBytes > this.#held.partBytes || this.#bytes > maxBytes / 2;
  }

  /** @param payload of the packet, if it is not in it */
  offer(packet: Buffer, payload: Buffer): void {
    if (this.#isClosed) return;
    const head = publishHead(packet, payload.length);
    if (head === null) return;
    const isCounted = this.#queue.length === 0 && !this.#connection.isBackedUp;
    if (isCounted && this.#rules.tryAdmit(this.#connection, head)) {
      this.#send(packet, payload);
      return;
    }
    if (head.qos === 0 && this.isFull) {
      this.#rules.counts.dropped++;
      return;
    }
    const bytes = packet.length + payload.length + head.topic.length + KEPT_BYTES;
    this.#queue.push({ packet: apart(packet), payload, bytes, head, isCounted });
    this.#bytes += bytes;
    this.#sharedBytes += payload.length;
    this.#held.share(payload);
    this.#rules.counts.queued++;
    this.count();
    const { maxMessages, maxBytes } = this.#rules;
    if (this.#queue.length > 2 * maxMessages || this.#bytes > maxBytes) this.cutOff('dispatch-queue-full');
    else this.run();
  }

  /** Resolves when all that is queued now has gone. Most of it is read then; it never does once the client is gone. */
  async room(): Promise<void> {
    const last = this.#queue.at(-1);
    if (last !== undefined) {
      await new Promise<void>((resolve) => {
        last.left = resolve;
      });
    }
    if (this.#queue.length > 0 || !this.#connection.isBackedUp) return;
    await new Promise<void>((resolve) => {
      this.#onRoom = resolve;
    });
  }

  /** Stops reading a publisher until half of the queue is gone. */
  holdBack(publisher: GatedConnection): void {
    if (this.#isClosed || this.#publishers.has(publisher)) return;
    this.#publishers.add(publisher);
    publisher.mark('subscriberBehind');
  }

  /** Sends what may be sent; called again when the socket has drained. */
  run(): void {
    if (this.#isRunning || this.#isClosed || this.#queue.length === 0) return;
    this.#isRunning = true;
    void this.#drain().finally(() => {
      this.#isRunning = false;
      if (this.#queue.length > 0 && !this.#connection.isBackedUp) this.run();
    });
  }

  /** Counts what waits for the client, here and in its socket. */
  count(): void {
    const { heldBytes, socketBytes, taken } = this.#connection.writer;
    this.#held.set(this, this.#ownBytes + heldBytes, socketBytes, taken);
    if (this.#onRoom === null || this.#isClosed || this.#connection.isBackedUp) return;
    this.#onRoom();
    this.#onRoom = null;
  }

  cutOff(reason: string): void {
    this.#connection.cutOff(reason);
  }

  /** Cuts off a subscriber that does not read; called by a timer. */
  watch(nowMs: number): void {
    const { socket, isBackedUp } = this.#connection;
    const bytes = socket.bytesWritten - socket.writableLength;
    const isAwaited = isBackedUp && socket.writableLength > 0;
    if (!isAwaited || bytes !== this.#progress.bytes) this.#progress = { atMs: nowMs, bytes };
    else if (nowMs - this.#progress.atMs > this.#rules.notReadingMs) this.cutOff('not-reading');
  }

  close(): void {
    this.#isClosed = true;
    this.#rules.counts.queued -= this.#queue.length;
    for (const { payload } of this.#queue.splice(0)) this.#held.unshare(payload);
    this.#bytes = 0;
    this.#sharedBytes = 0;
    this.count();
    this.#release();
  }

  async #drain(): Promise<void> {
    for (let next = this.#queue[0]; next !== undefined; next = this.#queue[0]) {
      if (this.#connection.isBackedUp) return;
      const { head, packet, payload, bytes, isCounted } = next;
      const admitted = await this.#rules.admit(this.#connection, head, isCounted);
      if (this.#isClosed) return;
      this.#queue.shift();
      this.#bytes -= bytes;
      this.#rules.counts.queued--;
      if (admitted) this.#send(packet, payload);
      else this.#rules.counts.dropped++;
      this.#sharedBytes -= payload.length;
      this.#held.unshare(payload);
      this.count();
      next.left?.();
      if (this.#isHalfEmpty) this.#release();
    }
  }

  get #isHalfEmpty(): boolean {
    const { maxMessages, maxBytes } = this.#rules;
    if (this.#queue.length > maxMessages / 2 || this.#bytes > maxBytes / 4) return false;
    return this.#ownBytes <= this.#held.partBytes / 2;
  }

  #send(packet: Buffer, payload: Buffer): void {
    this.#rules.counts.dispatched++;
    this.#connection.send(packet, payload);
  }

  #release(): void {
    for (const publisher of this.#publishers) publisher.unmark('subscriberBehind');
    this.#publishers.clear();
  }
}

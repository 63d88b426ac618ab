import { QuotameshError } from '../../base/errors/quotamesh-error.js';
import type { Telemetry } from '../../base/ports/telemetry.js';
import type { ThrottleReason } from '../../core/limiter/throttle-tracker.js';
import type { FirstAnswer, Passage, Passages } from './gate-requests.js';
import type { GatedConnection } from './gated-connection.js';
import type { GroupRules } from './group-rules.js';
import type { MqttCounts } from './mqtt-counts.js';
import { keptBytesOf } from './room-taken.js';

interface PublishedMessage {
  readonly topic: string;
  readonly payload: Buffer | string;
}

interface PublishGateParts {
  readonly passages: Passages;
  readonly rules: GroupRules;
  readonly telemetry: Telemetry;
  readonly counts: MqttCounts;
  /** Publishes admitted and not delivered: per connection, and bytes of all. */
  readonly maxPendingPublishes: number;
  readonly maxPendingBytes: number;
}

type Pass = (error?: Error | null) => void;

type Refusal = Exclude<FirstAnswer, { passes: true }>;

interface Pending {
  readonly connection: GatedConnection;
  readonly bytes: number;
}

/**
 * Charges publishes on arrival: one message and the payload's bytes. Without tokens it withholds its answer to aedes
 * and stops reading the connection until its turn. Node, topic, group rate, pending publishes and memory can hold a
 * connection at once, client rate and slow subscribers besides: nothing passes before the last of them has gone.
 */
export class PublishGate {
  readonly #parts: PublishGateParts;
  readonly #pending = new Map<object, Pending>();
  readonly #pendingOf = new Map<GatedConnection, number>();
  readonly #heldForMemory = new Set<GatedConnection>();

  constructor(parts: PublishGateParts) {
    this.#parts = parts;
  }

  /** Judges a publish; `pass` lets aedes publish it, or with an error end the connection. */
  arrive(connection: GatedConnection, message: PublishedMessage, pass: Pass): void {
    const { counts } = this.#parts;
    try {
      const passage = this.#passageOf(connection, message);
      if (passage === null) {
        counts.publishes.unlimited++;
        this.#passOn(connection, message, pass);
        return;
      }
      const answer = this.#parts.passages.try(connection, passage);
      if (answer.passes) {
        counts.publishes.atOnce++;
        this.#passOn(connection, message, pass);
      } else {
        void this.#wait(connection, message, { passage, answer, pass });
      }
    } catch (error) {
      this.#reject(connection, message, error, pass);
    }
  }

  /** Judges a will, whose client is gone: no connection to hold back. */
  arriveWill(connection: GatedConnection, message: PublishedMessage, pass: Pass): void {
    try {
      const passage = this.#passageOf(connection, message);
      if (passage !== null) this.#parts.passages.charge(connection, passage);
      pass(null);
    } catch (error) {
      this.#reject(connection, message, error, pass);
    }
  }

  delivered(message: object): void {
    const pending = this.#pending.get(message);
    if (pending === undefined) return;
    this.#pending.delete(message);
    const { connection, bytes } = pending;
    const { counts, maxPendingPublishes, maxPendingBytes } = this.#parts;
    counts.pendingPublishes--;
    counts.pendingBytes -= bytes;
    const left = (this.#pendingOf.get(connection) ?? 1) - 1;
    if (left === 0) this.#pendingOf.delete(connection);
    else this.#pendingOf.set(connection, left);
    if (left <= maxPendingPublishes / 2) connection.unmark('inFlightPerConnection');
    if (counts.pendingBytes > maxPendingBytes / 2) return;
    for (const held of this.#heldForMemory) held.unmark('ioThreadBytes');
    this.#heldForMemory.clear();
  }

  /** Forgets a connection: pending messages are delivered or not, but nothing waits for them. */
  ended(connection: GatedConnection): void {
    this.#heldForMemory.delete(connection);
    if (!this.#pendingOf.has(connection)) return;
    for (const [message, pending] of this.#pending) if (pending.connection === connection) this.delivered(message);
  }

  async #wait(
    connection: GatedConnection,
    message: PublishedMessage,
    { passage, answer, pass }: { passage: Passage; answer: Refusal; pass: Pass },
  ): Promise<void> {
    const { reason, isCounted } = answer;
    connection.mark(reason);
    try {
      await this.#parts.passages.wait(connection, passage, isCounted);
    } catch (error) {
      connection.unmark(reason);
      this.#reject(connection, message, error, pass);
      return;
    }
    this.#parts.counts.publishes.afterWaiting++;
    this.#passOn(connection, message, pass, reason);
  }

  #passageOf(connection: GatedConnection, { topic, payload }: PublishedMessage): Passage | null {
    if (topic.startsWith('$')) throw new Error('topics that begin with $ are reserved');
    const where = this.#parts.rules.whereOf(connection, topic);
    const bytes = typeof payload === 'string' ? Buffer.byteLength(payload) : payload.length;
    return where === null ? null : { where, direction: 'publish', topic, bytes };
  }

  /** Goes on when no other reason holds the connection. Its next PUBLISH may come. */
  #passOn(connection: GatedConnection, message: PublishedMessage, pass: Pass, reason?: ThrottleReason): void {
    connection.whenReading(() => {
      this.#count(connection, message);
      pass(null);
      connection.decided();
    });
    if (reason !== undefined) connection.unmark(reason);
  }

  #count(connection: GatedConnection, message: PublishedMessage): void {
    const { counts, maxPendingPublishes, maxPendingBytes } = this.#parts;
    const bytes = keptBytesOf(message);
    const pending = (this.#pendingOf.get(connection) ?? 0) + 1;
    this.#pendingOf.set(connection, pending);
    this.#pending.set(message, { connection, bytes });
    counts.pendingPublishes++;
    counts.pendingBytes += bytes;
    if (pending >= maxPendingPublishes) connection.mark('inFlightPerConnection');
    if (counts.pendingBytes < maxPendingBytes) return;
    this.#heldForMemory.add(connection);
    connection.mark('ioThreadBytes');
  }

  #reject(connection: GatedConnection, message: PublishedMessage, error: unknown, pass: Pass): void {
    const failure = error instanceof Error ? error : new Error(String(error));
    // Otherwise the connection ended while it waited.
    if (!connection.ended.signal.aborted) {
      this.#parts.counts.publishes.rejected++;
      const code = failure instanceof QuotameshError ? failure.code : undefined;
      const facts = { client: connection.clientId, topic: message.topic.slice(0, 200), code, reason: failure.message };
      this.#parts.telemetry.log('warn', 'mqtt publish rejected', facts);
      connection.noteReason('publish-rejected');
    }
    pass(failure);
    connection.decided();
  }
}

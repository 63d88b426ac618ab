import { incarnationOf, nodeKeyOf } from '../../../../src/core/base/ids.js';
import type {
  Append,
  CoordinatorEvent,
  Notice,
  ReadEvent,
} from '../../../../src/core/base/protocol/events-and-effects.js';
import {
  nodeRecordKey,
  type ReportRow,
  reportRecordKey,
  type TopicRecord,
} from '../../../../src/core/base/protocol/record.js';
import type { CoordinatorSettings } from '../../../../src/core/base/settings.js';
import { DIRECTION_COUNT } from '../../../../src/core/base/vocabulary.js';
import { GRANTED, Limiter, UNCONFIRMED } from '../../../../src/core/limiter/limiter.js';
import { Coordinator } from '../../../../src/core/machine/coordinator.js';
import { enforce } from '../../../../src/core/machine/enforce.js';
import { GATED, SETTINGS } from '../../../simulation/settings.js';

/**
 * One coordinator with its limiter and a log that the test holds in its hands: what is appended is read back when the
 * test says so.
 */
export class OneNode {
  readonly settings: CoordinatorSettings;
  readonly coordinator: Coordinator;
  readonly limiter: Limiter;
  /** Appended and not yet delivered. */
  readonly sent: Append[] = [];
  readonly notices: Notice[] = [];
  nowMs = 1000;
  /** The log's clock; moves with the local one. */
  logClockMs = 5_000_000;
  readonly #nextOffset: number[];
  readonly #otherSequences = new Map<string, number>();

  constructor(settings: Partial<CoordinatorSettings> = {}) {
    this.settings = { ...SETTINGS, groups: [GATED], nodeId: 'own', nonce: 500, ...settings };
    this.limiter = new Limiter(this.settings.groups.length * DIRECTION_COUNT);
    this.coordinator = new Coordinator(this.settings, this.limiter);
    this.#nextOffset = new Array<number>(this.settings.partitions).fill(0);
  }

  /** A node that has read the log, its own NODE record included. */
  static ready(settings: Partial<CoordinatorSettings> = {}): OneNode {
    const node = new OneNode(settings);
    node.step({ kind: 'caught-up' });
    node.echo();
    return node;
  }

  step(event: CoordinatorEvent): void {
    const effects = this.coordinator.step(event, this.nowMs);
    enforce(effects, this.coordinator, this.limiter, this.nowMs);
    this.sent.push(...effects.appends);
    this.notices.push(...effects.notices);
  }

  /** Time passes in rounds; what is appended is read back at once unless `echo` is false. */
  run(durationMs: number, { echo = true, each = () => {} }: { echo?: boolean; each?: () => void } = {}): void {
    const endMs = this.nowMs + durationMs;
    while (this.nowMs < endMs) {
      this.pass(Math.min(this.settings.sampleIntervalMs, endMs - this.nowMs));
      each();
      this.step({ kind: 'round-elapsed' });
      if (echo) this.echo();
    }
  }

  /** Time passes and nothing runs. */
  pass(durationMs: number): void {
    this.nowMs += durationMs;
    this.logClockMs += durationMs;
  }

  /** Everything appended is in the log and read back. */
  echo(): void {
    this.read(...this.sent.splice(0));
  }

  /** Appended records that never reach the log. */
  lose(): Append[] {
    return this.sent.splice(0);
  }

  read(...appends: readonly Append[]): void {
    if (appends.length === 0) return;
    this.step({ kind: 'records-read', records: appends.map((append) => this.#inLog(append)) });
  }

  /** A record of another node (or of another life of this one). */
  by(nodeId: string, kind: 'node' | 'farewell', { life = 1, partition = 0, nonce = 7 } = {}): Append {
    const author = this.#author(nodeId, life, nonce);
    const record: TopicRecord =
      kind === 'node' ? { kind, author, nodeId, version: 'test' } : { kind: 'farewell', author, nodeId };
    return { partition, key: nodeRecordKey(author.nodeKey), record };
  }

  report(nodeId: string, rows: readonly ReportRow[], { life = 1, partition = 0, bundle = 0 } = {}): Append {
    const author = this.#author(nodeId, life, 7);
    return { partition, key: reportRecordKey(author.nodeKey, bundle), record: { kind: 'report', author, rows } };
  }

  /** As the gate asks: a lane is served from its first use on. */
  tryAcquire(lane: number, messages: number, { bytes = 0, retry = false } = {}): boolean {
    let answer = this.limiter.tryAcquire(lane, messages, bytes, retry, this.nowMs);
    if (answer === UNCONFIRMED && this.coordinator.isReady && !this.coordinator.lanes.has(lane)) {
      this.step({ kind: 'lane-served', lane });
      this.limiter.accrueSince(lane, this.coordinator.readyMs);
      answer = this.limiter.tryAcquire(lane, messages, bytes, retry, this.nowMs);
    }
    return answer === GRANTED;
  }

  told(kind: Notice['kind']): Notice[] {
    return this.notices.filter((notice) => notice.kind === kind);
  }

  #author(nodeId: string, life: number, nonce: number): TopicRecord['author'] {
    const sequence = (this.#otherSequences.get(`${nodeId}/${life}`) ?? 0) + 1;
    this.#otherSequences.set(`${nodeId}/${life}`, sequence);
    return { nodeKey: nodeKeyOf(this.settings.cluster, nodeId), incarnation: incarnationOf(life, nonce), sequence };
  }

  #inLog({ partition, key, record }: Append): ReadEvent {
    const offset = this.#nextOffset[partition];
    this.#nextOffset[partition] = offset + 1;
    return { partition, offset, appendMs: this.logClockMs, key, record };
  }
}

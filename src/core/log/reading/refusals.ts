import {
  IGNORED_CAUSES,
  type IgnoredCause,
  type Notice,
  type RowsRefused,
} from '../../base/protocol/events-and-effects.js';
import { REFUSAL_QUIET_MS, REFUSED_NAMES_MAX } from '../constants.js';

/** Counts by cause the records that changed nothing, and notes refusals. */
export class Refusals {
  readonly counts = Object.fromEntries(IGNORED_CAUSES.map((cause) => [cause, 0])) as Record<IgnoredCause, number>;
  /** Local monotonic time of the last refused node. */
  nodeMs = -Infinity;
  /** Local monotonic time of the last refused report. */
  rowsMs = -Infinity;
  /** Local monotonic time of the last refused charge. */
  chargeMs = -Infinity;
  /** Refused charges by node id, until none was refused for `REFUSAL_QUIET_MS`. */
  readonly charges = new Map<string, number>();
  readonly #notices: Notice[];

  constructor(notices: Notice[]) {
    this.#notices = notices;
  }

  count(cause: IgnoredCause): void {
    this.counts[cause]++;
  }

  node(nodeId: string | null, nowMs: number): void {
    if (this.counts['too-many-nodes'] === 0) this.#notices.push({ kind: 'nodes-refused', nodeId });
    this.count('too-many-nodes');
    this.nodeMs = nowMs;
  }

  /** Counts a node's doubted claim of fewer partitions. */
  partitions(nodeId: string): void {
    if (this.counts['partitions-doubted'] === 0) this.#notices.push({ kind: 'partitions-doubted', nodeId });
    this.count('partitions-doubted');
  }

  /** Counts a record whose time is years away from the others'. */
  time(partition: number): void {
    if (this.counts['absurd-time'] === 0) this.#notices.push({ kind: 'absurd-time', partition });
    this.count('absurd-time');
  }

  rows(cause: RowsRefused['cause'], nodeId: string | null, nowMs: number): void {
    if (nowMs - this.rowsMs > REFUSAL_QUIET_MS) this.#notices.push({ kind: 'rows-refused', cause, nodeId });
    this.count(cause);
    this.rowsMs = nowMs;
  }

  /** @param nodeId '' = unknown name */
  charge(nodeId: string, nowMs: number): void {
    if (nowMs - this.chargeMs > REFUSAL_QUIET_MS) this.charges.clear();
    if (this.charges.size === 0) this.#notices.push({ kind: 'charge-refused', nodeId: nodeId || null });
    this.count('charge-too-low');
    const known = this.charges.get(nodeId);
    if (known !== undefined || this.charges.size < REFUSED_NAMES_MAX) this.charges.set(nodeId, (known ?? 0) + 1);
    this.chargeMs = nowMs;
  }

  /** Forgets the times of refusals, because another log begins: it may have room. */
  forgetAll(): void {
    this.nodeMs = -Infinity;
    this.rowsMs = -Infinity;
    this.chargeMs = -Infinity;
    this.charges.clear();
  }
}

import {
  IGNORED_CAUSES,
  type IgnoredCause,
  type Notice,
  type RowsRefused,
} from '../../base/protocol/events-and-effects.js';

/** A refused report is told again only if none was refused for this long. */
const TOLD_AGAIN_MS = 60_000;

/** Nodes that are counted by name at once. */
const NAMED_MAX = 16;

/** Counts what was read and changed nothing, by cause, and tells of what was refused. */
export class Refusals {
  readonly counts = Object.fromEntries(IGNORED_CAUSES.map((cause) => [cause, 0])) as Record<IgnoredCause, number>;
  /** When a node was last refused because there is no room, local monotonic time. */
  nodeMs = -Infinity;
  /** When a report was last refused because there is no room, local monotonic time. */
  rowsMs = -Infinity;
  /** When a node last gave back more than it may, local monotonic time. */
  chargeMs = -Infinity;
  /** Records that gave back more than they may, since none did for a while, by the node's id. */
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

  /** A node says that it counts fewer partitions than those that have decided for long. */
  partitions(nodeId: string): void {
    if (this.counts['partitions-doubted'] === 0) this.#notices.push({ kind: 'partitions-doubted', nodeId });
    this.count('partitions-doubted');
  }

  /** The time of a record is years away from that of the others. */
  time(partition: number): void {
    if (this.counts['absurd-time'] === 0) this.#notices.push({ kind: 'absurd-time', partition });
    this.count('absurd-time');
  }

  rows(cause: RowsRefused['cause'], nodeId: string | null, nowMs: number): void {
    if (nowMs - this.rowsMs > TOLD_AGAIN_MS) this.#notices.push({ kind: 'rows-refused', cause, nodeId });
    this.count(cause);
    this.rowsMs = nowMs;
  }

  /** @param nodeId '' = its name is not known */
  charge(nodeId: string, nowMs: number): void {
    if (nowMs - this.chargeMs > TOLD_AGAIN_MS) this.charges.clear();
    if (this.charges.size === 0) this.#notices.push({ kind: 'charge-refused', nodeId: nodeId || null });
    this.count('charge-too-low');
    const known = this.charges.get(nodeId);
    if (known !== undefined || this.charges.size < NAMED_MAX) this.charges.set(nodeId, (known ?? 0) + 1);
    this.chargeMs = nowMs;
  }

  /** Called when another log begins: there may be room in it for what was refused in the last one. */
  forgetAll(): void {
    this.nodeMs = -Infinity;
    this.rowsMs = -Infinity;
    this.chargeMs = -Infinity;
    this.charges.clear();
  }
}

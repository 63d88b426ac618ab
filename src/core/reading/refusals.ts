import { IGNORED_CAUSES, type IgnoredCause, type Notice, type RowsRefused } from '../protocol/events-and-effects.js';

/** A refused report is told again only if none was refused for this long. */
const TOLD_AGAIN_MS = 60_000;

/** Counts records that were read and changed nothing, by cause, and tells when there was no room for one. */
export class Refusals {
  readonly counts = Object.fromEntries(IGNORED_CAUSES.map((cause) => [cause, 0])) as Record<IgnoredCause, number>;
  /** When a node was last refused because there is no room, local monotonic time. */
  nodeMs = Number.NEGATIVE_INFINITY;
  /** When a report was last refused because there is no room, local monotonic time. */
  rowsMs = Number.NEGATIVE_INFINITY;
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

  rows(cause: RowsRefused['cause'], nodeId: string | null, nowMs: number): void {
    if (nowMs - this.rowsMs > TOLD_AGAIN_MS) this.#notices.push({ kind: 'rows-refused', cause, nodeId });
    this.count(cause);
    this.rowsMs = nowMs;
  }

  /** Called when another log begins: there may be room in it for what was refused in the last one. */
  forgetAll(): void {
    this.nodeMs = Number.NEGATIVE_INFINITY;
    this.rowsMs = Number.NEGATIVE_INFINITY;
  }
}

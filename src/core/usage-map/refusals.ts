import { IGNORED_CAUSES, type IgnoredCause, type Notice, type RowsRefused } from '../coordinator-protocol.js';

/** One notice while refusals follow each other, and one when they begin again after a pause of this. */
const TOLD_AGAIN_MS = 60_000;

/** Records that were read and change nothing, by cause; what there was no room for is told as well. */
export class Refusals {
  readonly counts = Object.fromEntries(IGNORED_CAUSES.map((cause) => [cause, 0])) as Record<IgnoredCause, number>;
  /** When a node was refused last for which there is no room, local monotonic time. */
  nodeMs = Number.NEGATIVE_INFINITY;
  /** The same of a report. */
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

  /** Another log begins: who was refused in the last one may have room. */
  forgetAll(): void {
    this.nodeMs = Number.NEGATIVE_INFINITY;
    this.rowsMs = Number.NEGATIVE_INFINITY;
  }
}

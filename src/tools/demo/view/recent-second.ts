import type { Rates } from '../../../core/base/vocabulary.js';
import type { ClientTally } from '../measure/meter.js';
import type { TrafficProgress } from '../processes/traffic-process.js';
import type { NodeRow } from './frame.js';

const SECOND_MS = 1000;

/** Turns counters since the start into the last second's. */
export class RecentSecond {
  #history: TrafficProgress[] = [];

  add(progress: TrafficProgress): void {
    this.#history.push(progress);
    // The second begins at the newest one that is a second old.
    while (this.#history.length > 2 && progress.atMs - this.#history[1].atMs >= SECOND_MS) this.#history.shift();
  }

  /** Returns a row per node, without what only the node knows. */
  rows(): Omit<NodeRow, 'id' | 'state'>[] {
    return this.#pairs().map(({ now, before, perSecond }) => ({
      demand: (now.arrived[0] - before.admitted[0] - before.gaveUp[0]) * perSecond,
      admitted: (now.admitted[0] - before.admitted[0]) * perSecond,
      gaveUp: (now.gaveUp[0] - before.gaveUp[0]) * perSecond,
      waiting: now.arrived[0] - now.admitted[0] - now.gaveUp[0],
    }));
  }

  admitted(): Rates {
    return this.#pairs().reduce<Rates>(
      ([messages, bytes], { now, before, perSecond }) => [
        messages + (now.admitted[0] - before.admitted[0]) * perSecond,
        bytes + (now.admitted[1] - before.admitted[1]) * perSecond,
      ],
      [0, 0],
    );
  }

  #pairs(): { now: ClientTally; before: ClientTally; perSecond: number }[] {
    const last = this.#history[this.#history.length - 1];
    const first = this.#history[0];
    if (last === undefined || last === first) return [];
    const perSecond = SECOND_MS / (last.atMs - first.atMs);
    return last.nodes.map((now, at) => ({ now, before: first.nodes[at], perSecond }));
  }
}

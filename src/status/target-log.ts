import { DIRECTIONS } from '../core/base/vocabulary.js';
import type { QuotaNode } from '../node/quota-node.js';
import type { Telemetry } from '../ports/telemetry.js';
import { explainLane } from './explain-group.js';

/** One structured log line per lane in use and interval, with every input of its target; off unless switched on. */
export class TargetLog {
  readonly #node: QuotaNode;
  readonly #telemetry: Telemetry;
  #nextMs = 0;

  constructor(node: QuotaNode, telemetry: Telemetry) {
    this.#node = node;
    this.#telemetry = telemetry;
  }

  round(nowMs: number): void {
    const { coordinator, config } = this.#node;
    const { targetEveryMs } = config.log;
    if (targetEveryMs === 0 || coordinator === null || nowMs < this.#nextMs) return;
    this.#nextMs = nowMs + targetEveryMs;
    for (const { group, direction } of coordinator.lanes.values()) {
      const name = DIRECTIONS[direction] as (typeof DIRECTIONS)[number];
      const facts = explainLane(this.#node, group, name);
      this.#telemetry.log('info', 'target', { group: this.#node.groups.at(group).name, direction: name, ...facts });
    }
  }
}

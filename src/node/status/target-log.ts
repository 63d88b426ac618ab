import type { Telemetry } from '../../base/ports/telemetry.js';
import { DIRECTIONS } from '../../core/base/vocabulary.js';
import { explainLane } from './explain-group.js';
import type { StatusParts } from './status-parts.js';

/** Logs all inputs of targets, a line per used lane and interval. Off by default. */
export class TargetLog {
  readonly #parts: StatusParts;
  readonly #telemetry: Telemetry;
  #nextMs = 0;

  constructor(parts: StatusParts, telemetry: Telemetry) {
    this.#parts = parts;
    this.#telemetry = telemetry;
  }

  round(nowMs: number): void {
    const { coordinator } = this.#parts.loop;
    const { targetEveryMs } = this.#parts.config.log;
    if (targetEveryMs === 0 || coordinator === null || nowMs < this.#nextMs) return;
    this.#nextMs = nowMs + targetEveryMs;
    for (const { group, direction } of coordinator.lanes.values()) {
      const name = DIRECTIONS[direction];
      const facts = explainLane(this.#parts, group, name);
      this.#telemetry.log('info', 'target', { group: this.#parts.groups.at(group).name, direction: name, ...facts });
    }
  }
}

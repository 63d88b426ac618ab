import { setImmediate as turn } from 'node:timers/promises';
import { lanesOf } from '../../core/base/vocabulary.js';
import { matchName } from '../../core/beside/attachments/patterns.js';
import type { NodeParts } from '../../node/loop/node-parts.js';
import { LaneSummary } from '../../node/status/lane-summary.js';
import { GROUP_METRICS, type GroupMetric } from './group-metrics.js';
import type { Labels } from './metric.js';

/**
 * Writes the series of `metrics.perGroup` as text. *Why:* prom-client held the event loop for 1 to 2 s at 5,000 groups
 * (110,000 series). Here labels are written once, and requests get their turn in between.
 */
export class GroupSeries {
  readonly #node: NodeParts;
  #lanes: readonly WatchedLane[] = [];
  #version = -1;

  constructor(node: NodeParts) {
    this.#node = node;
  }

  async text(): Promise<string> {
    this.#watch();
    if (this.#lanes.length === 0) return '';
    const parts: string[] = [];
    for (const [name, metric] of Object.entries(GROUP_METRICS)) {
      parts.push(`\n# HELP ${name} ${metric.help}\n# TYPE ${name} ${metric.type}\n`);
      const isOfGroup = metric.labels.length === 1;
      await this.#each(metric, (value, { labelText, groupText }) =>
        parts.push(`${name}${isOfGroup ? groupText : labelText} ${value}\n`),
      );
    }
    return parts.join('');
  }

  async read(series: (name: string, value: number, labels: Labels) => void): Promise<void> {
    this.#watch();
    if (this.#lanes.length === 0) return;
    for (const [name, metric] of Object.entries(GROUP_METRICS)) {
      const isOfGroup = metric.labels.length === 1;
      await this.#each(metric, (value, { labels }) =>
        series(name, value, isOfGroup ? { group: labels.group } : labels),
      );
    }
  }

  #watch(): void {
    const { version } = this.#node.groups;
    if (version !== this.#version) this.#lanes = watchedLanes(this.#node);
    this.#version = version;
  }

  async #each({ read }: GroupMetric, series: (value: number, lane: WatchedLane) => void): Promise<void> {
    let sinceTurn = 0;
    for (const lane of this.#lanes) {
      const value = read(lane.summary, this.#node);
      // Infinity (unlimited) and undefined (unknown here) have no series.
      if (value !== undefined && Number.isFinite(value)) series(value, lane);
      if (++sinceTurn % SERIES_PER_TURN === 0) await turn();
    }
    await turn();
  }
}

/** Series between two turns of the event loop: about 1 ms. */
const SERIES_PER_TURN = 1000;

interface WatchedLane {
  readonly summary: LaneSummary;
  /** `{group="orders",direction="publish"}`; group names need no escapes. */
  readonly labelText: string;
  /** `{group="orders"}`, of metrics without a direction. */
  readonly groupText: string;
  readonly labels: Labels;
}

function watchedLanes(node: NodeParts): readonly WatchedLane[] {
  const { perGroup } = node.config.metrics;
  if (perGroup === 'none') return [];
  const selectors = perGroup === 'all' ? ['*'] : perGroup;
  return [...node.groups.numbers].flatMap(([name, group]) => {
    if (!selectors.some((selector) => selector === '*' || matchName(selector, name, {}))) return [];
    return lanesOf(group).map((lane): WatchedLane => {
      const summary = new LaneSummary(node, lane);
      const labels = { group: name, direction: summary.direction };
      const labelText = `{group="${name}",direction="${summary.direction}"}`;
      return { summary, labelText, groupText: `{group="${name}"}`, labels };
    });
  });
}

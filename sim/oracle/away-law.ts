import { laneOf, MESSAGES } from '../../src/core/base/vocabulary.js';
import type { World, WorldSettings } from '../cluster/world.js';
import type { ProcessRecord } from './process-record.js';

type Fail = (about: string, says: string) => void;

/** Milliseconds beyond a node's looking back: intervals of looks and rounds. */
const LOOKS_MS = 750;

/**
 * Judges the topic's outage, for groups that were calm before: same nodes, members and links for as long as isolated
 * nodes look back. They hold no more than together at one offset; once all have noticed, Σ shares ≤ target
 * (docs/operate/when-the-topic-is-away.md).
 */
export class AwayLaw {
  /** Judged sums. */
  judged = 0;
  readonly #groups: { what: string; sinceMs: number; isJudged: boolean }[];
  #epoch = '';
  #wasAway = false;

  constructor(groups: number) {
    this.#groups = Array.from({ length: groups }, () => ({ what: '', sinceMs: 0, isJudged: false }));
  }

  check({ nowMs, settings, topic }: World, records: Iterable<ProcessRecord>, fail: Fail): void {
    const serving = [...records].filter(({ isServing }) => isServing);
    for (const [group, calm] of this.#groups.entries()) {
      if (!topic.isAway) this.#follow(calm, describe(serving, group), nowMs);
      else if (!this.#wasAway) calm.isJudged = nowMs - calm.sinceMs >= lookedBackMs(settings);
      if (topic.epoch !== this.#epoch) Object.assign(calm, { sinceMs: nowMs, isJudged: false });
      if (topic.isAway && calm.isJudged) this.#judge(group, serving, settings, fail);
    }
    this.#wasAway = topic.isAway;
    this.#epoch = topic.epoch;
  }

  #follow(calm: { what: string; sinceMs: number }, what: string, nowMs: number): void {
    if (what !== calm.what) Object.assign(calm, { what, sinceMs: nowMs });
  }

  #judge(group: number, serving: readonly ProcessRecord[], settings: WorldSettings, fail: Fail): void {
    const { name, quota, isolation } = settings.groups[group];
    const holding = serving.filter(({ isServed }) => isServed[group]);
    if (isolation.policy === 'open' || holding.some((record) => hearsItself(record, group))) return;
    this.judged++;
    const sum = holding.reduce((total, { share }) => total + share[group], 0);
    const target = quota.publish[MESSAGES];
    if (sum <= target * (1 + 1e-9)) return;
    const held = holding.map((record) => `${record.name} ${(record.share[group]).toFixed(3)}`).join(', ');
    fail(name, `all have noticed that the topic is away, and hold ${sum.toFixed(3)} of ${target}: ${held}`);
  }
}

/**
 * Returns milliseconds that an isolated node looks back: 2 × isolationAfterMs + 0.5 s, partitionHeartbeatMs more beyond
 * partition 0, and a third (src/core/account/lanes/least-share.ts).
 */
function lookedBackMs({ isolationAfterMs, partitionHeartbeatMs, partitions }: WorldSettings): number {
  const slowerBeatMs = partitions > 1 ? partitionHeartbeatMs : 0;
  return ((2 * isolationAfterMs + slowerBeatMs + 500) * 4) / 3 + LOOKS_MS;
}

function describe(serving: readonly ProcessRecord[], group: number): string {
  const states = serving.map((record) => {
    const { name, node, isServed, isMember } = record;
    const isWell = !node.isStalled && isMember && hearsItself(record, group);
    return [name, isServed[group], isWell, node.coordinator.membership.changes].join(' ');
  });
  return states.join();
}

/** Reads the node's link, as it may change without a step. */
function hearsItself({ node }: ProcessRecord, group: number): boolean {
  const { lanes, log } = node.coordinator;
  return lanes.get(laneOf(group, 0))?.link === 'linked' && !log.epochs.isHolding;
}

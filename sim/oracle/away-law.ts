import { laneOf, MESSAGES } from '../../src/core/base/vocabulary.js';
import type { World, WorldSettings } from '../cluster/world.js';
import type { ProcessRecord } from './process-record.js';

type Fail = (about: string, says: string) => void;

/** Added to the time that a node looks back: longer than the interval between two looks, and than a node's rounds. */
const LOOKS_MS = 750;

/**
 * Judges what is held while the whole topic is away. It judges groups that were calm before, for as long as an isolated
 * node looks back: the same nodes served them, knew the same members and heard themselves. Such nodes hold no more than
 * they held together at one offset of the log. Once all of them have noticed that the topic is away, Σ shares ≤ target
 * (docs/operate/when-the-topic-is-away.md).
 */
export class AwayLaw {
  /** How many sums were judged. */
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
 * How far an isolated node looks back: 2 × isolationAfterMs + 0.5 s, on other partitions than the first one
 * partitionHeartbeatMs more, and up to a third of that on top (src/core/account/lanes/least-share.ts).
 */
function lookedBackMs({ isolationAfterMs, partitionHeartbeatMs, partitions }: WorldSettings): number {
  const slowerBeatMs = partitions > 1 ? partitionHeartbeatMs : 0;
  return ((2 * isolationAfterMs + slowerBeatMs + 500) * 4) / 3 + LOOKS_MS;
}

function describe(serving: readonly ProcessRecord[], group: number): string {
  return serving
    .map((record) => {
      const { name, node, isServed, isMember } = record;
      const isWell = !node.isStalled && isMember && hearsItself(record, group);
      return [name, isServed[group], isWell, node.coordinator.membership.changes].join(' ');
    })
    .join();
}

/** Asks the node itself: the record may be old, because a node without an allowance loses its link without a change. */
function hearsItself({ node }: ProcessRecord, group: number): boolean {
  const { lanes, log } = node.coordinator;
  return lanes.get(laneOf(group, 0))?.link === 'linked' && !log.epochs.isHolding;
}

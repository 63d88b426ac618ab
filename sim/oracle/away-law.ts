import { laneOf, MESSAGES } from '../../src/core/vocabulary.js';
import type { World, WorldSettings } from '../world.js';
import type { ProcessRecord } from './process-record.js';

type Fail = (about: string, says: string) => void;

/** Longer than from one look to the next, and than the rounds in which a node looks back. */
const LOOKS_MS = 750;

/**
 * What is held while the whole topic is away. Nodes that served a group for as long as an isolated node looks back,
 * with the same members, hearing themselves all the time, hold no more than all held together at one place of the log:
 * once all of them have noticed, Σ shares ≤ target (docs/when-the-topic-is-away.md).
 */
export class AwayLaw {
  /** Times that a sum was judged. */
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
    const { name, quota, isolation } = settings.groups[group] as WorldSettings['groups'][number];
    const holding = serving.filter(({ isServed }) => isServed[group]);
    if (isolation.policy === 'open' || holding.some((record) => hearsItself(record, group))) return;
    this.judged++;
    const sum = holding.reduce((total, { share }) => total + (share[group] as number), 0);
    const target = quota.publish[MESSAGES];
    if (sum <= target * (1 + 1e-9)) return;
    const held = holding.map((record) => `${record.name} ${(record.share[group] as number).toFixed(3)}`).join(', ');
    fail(name, `all have noticed that the topic is away, and hold ${sum.toFixed(3)} of ${target}: ${held}`);
  }
}

/** 2 × isolationAfterMs + 0.5 s, and up to a third more; of other partitions than the first as much longer. */
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

/** As it is now: losing its link changes neither share nor limit of a node that has no allowance. */
function hearsItself({ node }: ProcessRecord, group: number): boolean {
  const { lanes, log } = node.coordinator;
  return lanes.get(laneOf(group, 0))?.link === 'linked' && !log.epochs.isHolding;
}

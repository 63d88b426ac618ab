import { LANE_TOPICS_MAX, NODE_TOPICS_MAX, TOPICS_WINDOW_MS } from './constants.js';

/**
 * Counts the topics that requests of each lane have named lately. It is `topics` of a report (PIP-82), whatever limits
 * the topics have.
 *
 * It counts in windows of ten seconds, and returns the larger count of the last whole window and the present one. A
 * lane counts up to 10,000 topics per window, a node 50,000; more are left out. So clients that make up names cost a
 * node 10 MB with names of 60 characters, 60 MB at the very worst.
 *
 * Worked: 40 topics until 14 s, 3 from then on: 40 until 30 s, when a window has had 3 alone.
 *
 * *Why names:* looking up a name in a set takes 10 ns, and computing a hash in its place ten times as long.
 */
export class TopicsInUse {
  #before: NamesOfLanes = new Map();
  #now: NamesOfLanes = new Map();
  readonly #elsewhere = new Map<number, number>();
  #kept = 0;
  #begunMs = -Infinity;

  note(lane: number, topic: string): void {
    if (topic === '') return;
    const names = this.#now.get(lane);
    if (names?.has(topic) === true || this.#kept >= NODE_TOPICS_MAX) return;
    if (names === undefined) this.#now.set(lane, new Set([topic]));
    else if (names.size < LANE_TOPICS_MAX) names.add(topic);
    else return;
    this.#kept++;
  }

  of(lane: number): number {
    const here = Math.max(this.#before.get(lane)?.size ?? 0, this.#now.get(lane)?.size ?? 0);
    return here + (this.#elsewhere.get(lane) ?? 0);
  }

  /** Adds the topics of an enforcer, or removes them. It names none, so its number counts. */
  addElsewhere(lane: number, more: number): void {
    const topics = (this.#elsewhere.get(lane) ?? 0) + more;
    if (topics === 0) this.#elsewhere.delete(lane);
    else this.#elsewhere.set(lane, topics);
  }

  /** Called once a round. */
  keep(nowMs: number): void {
    if (nowMs - this.#begunMs < TOPICS_WINDOW_MS) return;
    this.#begunMs = nowMs;
    this.#before = this.#now;
    this.#now = new Map();
    this.#kept = 0;
  }

  /** Called when the lane is given to another group. */
  forget(lane: number): void {
    this.#kept -= this.#now.get(lane)?.size ?? 0;
    this.#before.delete(lane);
    this.#now.delete(lane);
  }
}

type NamesOfLanes = Map<number, Set<string>>;

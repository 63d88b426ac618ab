import { BYTES, DIMENSION_COUNT, DIMENSIONS, type Dimension, MESSAGES } from '../../core/base/vocabulary.js';
import { LEVELS, type Level } from '../../core/limiter/levels.js';
import type { Binding } from '../../core/target/target-rate.js';
import type { QuotaNode } from '../../node/quota-node.js';

/**
 * What a refusal follows from. Of the group's own: the ceiling that the target was equal to, `bytes` for the byte quota,
 * or `isolated` where the node holds less because the topic is away. `own-limit`: a fixed limit of the node, a topic or
 * a client. `no-room`: too many topics or clients. `not-ready`: the node decides nothing.
 */
export type RefusalReason = Binding | 'bytes' | 'isolated' | 'own-limit' | 'no-room' | 'not-ready';

export interface RefusalCount {
  /** Null where the node decides nothing at all. */
  readonly level: Level | null;
  readonly dimension: Dimension | null;
  readonly reason: RefusalReason;
  readonly count: number;
  readonly lastAgoMs: number;
}

interface Entry {
  readonly level: Level | null;
  readonly dimension: Dimension | null;
  readonly reason: RefusalReason;
  count: number;
  lastMs: number;
}

/**
 * Why acquires of a lane were refused since the process began, by level, dimension and reason: kept for the lanes that
 * refuse, at most a few dozen entries each. Under overload most answers are refusals: one look-up and two numbers each.
 */
export class RefusalLedger {
  readonly #node: QuotaNode;
  readonly #lanes = new Map<number, Entry[]>();

  constructor(node: QuotaNode) {
    this.#node = node;
  }

  /** @param dimension index; −1 = no room, or nothing is decided */
  count(lane: number, level: Level | null, dimension: number, nowMs: number): void {
    const reason = this.#reasonOf(lane, level, dimension);
    const name = dimension === -1 ? null : (DIMENSIONS[dimension] as Dimension);
    const entries = this.#lanes.get(lane) ?? [];
    if (entries.length === 0) this.#lanes.set(lane, entries);
    let entry = entries.find((one) => one.reason === reason && one.level === level && one.dimension === name);
    if (entry === undefined) {
      entry = { level, dimension: name, reason, count: 0, lastMs: nowMs };
      entries.push(entry);
    }
    entry.count++;
    entry.lastMs = nowMs;
  }

  /** The newest first. */
  of(lane: number, nowMs: number): readonly RefusalCount[] {
    const entries = [...(this.#lanes.get(lane) ?? [])].sort((one, other) => other.lastMs - one.lastMs);
    return entries.map(({ lastMs, ...entry }) => ({ ...entry, lastAgoMs: Math.max(0, nowMs - lastMs) }));
  }

  #reasonOf(lane: number, level: Level | null, dimension: number): RefusalReason {
    if (level === null) return 'not-ready';
    if (dimension === -1) return 'no-room';
    if (level !== 'group') return 'own-limit';
    const state = this.#node.coordinator?.lanes.get(lane);
    if (state !== undefined && state.link !== 'linked') return 'isolated';
    return dimension === BYTES ? 'bytes' : (state?.binding ?? 'messages');
  }
}

/** Level and dimension of the limiter's answer REFUSED + 2 · level + dimension, REFUSED taken off. */
export function refusedBy(answer: number): { level: Level; dimension: number } {
  const level = LEVELS[Math.floor(answer / DIMENSION_COUNT)] as Level;
  return { level, dimension: answer % DIMENSION_COUNT === 0 ? MESSAGES : BYTES };
}

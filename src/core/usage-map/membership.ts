import type { Author } from '../report/record.js';
import type { Incarnation, NodeId, NodeKey } from '../vocabulary.js';

/** One node as the log shows it. */
export interface Member {
  readonly nodeKey: NodeKey;
  /** Small stable number; rows of the usage map refer to it. */
  readonly slot: number;
  nodeId: NodeId;
  version: string;
  incarnation: Incarnation;
  /** Highest sequence of this incarnation on the membership partition. */
  sequence: number;
  /** Log time of the membership partition at its newest sign of life. */
  lastSignLogMs: number;
  /** Local monotonic time at which that sign was read. */
  lastSignMs: number;
  state: 'alive' | 'left' | 'expired';
  /** Index among the alive nodes in order of NodeKey; −1 while not alive. */
  position: number;
}

/**
 * Who is in the cluster, as a function of the membership partition's log: NODE makes a member, FAREWELL removes it, silence
 * for `stalenessMs` of log time removes it, a newer incarnation replaces the older one. So membership shrinks as well as
 * it grows, and everyone who has read as far agrees on it.
 */
export class Membership {
  /** Alive members in order of NodeKey. */
  readonly alive: Member[] = [];
  readonly #stalenessMs: number;
  readonly #byKey = new Map<NodeKey, Member>();
  readonly #bySlot: Member[] = [];
  /** Nobody expires before; a lower bound, because signs of life only move expiry back. */
  #nextExpiryLogMs = 0;

  constructor(stalenessMs: number) {
    this.#stalenessMs = stalenessMs;
  }

  get(nodeKey: NodeKey): Member | undefined {
    return this.#byKey.get(nodeKey);
  }

  inSlot(slot: number): Member {
    return this.#bySlot[slot] as Member;
  }

  all(): Iterable<Member> {
    return this.#byKey.values();
  }

  /** The member a record belongs to, made known without being alive; null when the record is of a past incarnation. */
  recognise(author: Author): Member | null {
    const known = this.#byKey.get(author.nodeKey);
    if (known === undefined) return this.#introduce(author);
    if (author.incarnation < known.incarnation) return null;
    if (author.incarnation > known.incarnation) {
      known.incarnation = author.incarnation;
      known.sequence = 0;
      if (known.state === 'left') known.state = 'expired';
    }
    return known;
  }

  /** A NODE record: the node is alive. Returns whether the set of alive nodes changed. */
  join(member: Member, nodeId: NodeId, version: string, logMs: number, nowMs: number): boolean {
    member.nodeId = nodeId;
    member.version = version;
    member.lastSignLogMs = logMs;
    member.lastSignMs = nowMs;
    if (member.state === 'alive') return false;
    member.state = 'alive';
    this.#reorder();
    return true;
  }

  /** Another record on the membership partition: a sign of life of a node that is a member already. */
  signOfLife(member: Member, logMs: number, nowMs: number): void {
    if (member.state !== 'alive') return;
    member.lastSignLogMs = logMs;
    member.lastSignMs = nowMs;
  }

  leave(member: Member): boolean {
    const wasAlive = member.state === 'alive';
    member.state = 'left';
    if (wasAlive) this.#reorder();
    return wasAlive;
  }

  /** Removes the nodes that have been silent for too long, and returns them. */
  expire(logMs: number): readonly Member[] {
    if (logMs <= this.#nextExpiryLogMs) return NOBODY;
    const expired = this.alive.filter((member) => logMs - member.lastSignLogMs > this.#stalenessMs);
    for (const member of expired) member.state = 'expired';
    if (expired.length > 0) this.#reorder();
    const oldest = this.alive.reduce((least, member) => Math.min(least, member.lastSignLogMs), logMs);
    this.#nextExpiryLogMs = oldest + this.#stalenessMs;
    return expired;
  }

  /** Drops a node that is not alive from memory; its slot is not used again. */
  forget(member: Member): void {
    this.#byKey.delete(member.nodeKey);
  }

  #introduce(author: Author): Member {
    const member: Member = {
      nodeKey: author.nodeKey,
      slot: this.#bySlot.length,
      nodeId: '',
      version: '',
      incarnation: author.incarnation,
      sequence: 0,
      lastSignLogMs: 0,
      lastSignMs: 0,
      state: 'expired',
      position: -1,
    };
    this.#bySlot.push(member);
    this.#byKey.set(author.nodeKey, member);
    return member;
  }

  #reorder(): void {
    for (const member of this.alive) member.position = -1;
    this.alive.length = 0;
    for (const member of this.#byKey.values()) {
      if (member.state === 'alive') this.alive.push(member);
    }
    this.alive.sort((left, right) => left.nodeKey - right.nodeKey);
    this.alive.forEach((member, position) => {
      member.position = position;
    });
  }
}

const NOBODY: readonly Member[] = [];

import type { Incarnation, NodeId, NodeKey } from '../base/vocabulary.js';
import { MEMBERSHIP_PARTITION } from '../base/vocabulary.js';
import type { Author } from '../protocol/record.js';
import { NOBODYS_SLOT } from './record-store.js';

/** One node as the log shows it. */
export interface Member {
  readonly nodeKey: NodeKey;
  /** Small stable number; rows of the usage map refer to it. */
  readonly slot: number;
  nodeId: NodeId;
  version: string;
  /** The node's newest life on the membership partition, 0 before its first record there. */
  incarnation: Incarnation;
  /** That life's highest sequence on the membership partition. */
  sequence: number;
  /**
   * Per partition, the newest life among the records that the log holds of the node. A row counts if its life is as new
   * as this one and as the one on the membership partition. Partitions depend on each other in nothing else, so it does
   * not matter in which order they are read.
   */
  readonly lives: Float64Array;
  /** `lives` by the node's NODE and FAREWELL records alone; 0 = it wrote none, or they are buried. */
  readonly signedLives: Float64Array;
  /** True if its NODE key on the membership partition was buried while it counted as alive, and not written since. */
  isBuried: boolean;
  /**
   * Log time of the membership partition at the node's newest sign of life. While the node is not alive: the log time
   * at which its newest life became known.
   */
  lastSignLogMs: number;
  /**
   * Log time of the membership partition at the last beat in an older life than the newest one, −∞ = there was none. A
   * process that beats so has found no record of the newer life: another one, without the cluster's key, has written
   * over it.
   */
  olderBeatLogMs: number;
  /** Local monotonic time at which the newest sign of life was read. */
  lastSignMs: number;
  state: 'alive' | 'left' | 'expired';
  /** Index among the alive nodes in order of NodeKey, after `alive` was asked for; −1 while not alive. */
  index: number;
}

/**
 * The members of the cluster, as a function of the membership partition's log: NODE makes a member, FAREWELL removes
 * it, silence for `stalenessMs` of log time removes it, a newer incarnation replaces the older one. So membership
 * shrinks as well as it grows, and everyone who has read as far agrees on it.
 */
export class Membership {
  /** How many members are alive. */
  aliveCount = 0;
  /** Members looked at so far to put the alive ones in order: what a change of members costs, as a count. */
  steps = 0;
  /** The alive members in order of NodeKey, once `#isOrdered`; until then those that left, and newcomers at the end. */
  readonly #alive: Member[] = [];
  #isOrdered = true;
  /** Rises with every change of `alive`. */
  changes = 0;
  readonly #stalenessMs: number;
  readonly #partitions: number;
  readonly #byKey = new Map<NodeKey, Member>();
  readonly #bySlot: Member[];
  /** Slots of nodes that were dropped. */
  readonly #freeSlots: number[] = [];
  readonly #maxNodes: number;
  /** How many nodes have a life on the membership partition. */
  #accepted = 0;
  /** No node expires before this log time; a lower bound, because signs of life only postpone expiry. */
  #nextExpiryLogMs = 0;

  constructor(stalenessMs: number, partitions: number, maxNodes = Infinity) {
    this.#stalenessMs = stalenessMs;
    this.#partitions = partitions;
    this.#maxNodes = maxNodes;
    this.#bySlot = [this.#createMember(0, NOBODYS_SLOT, 0)];
  }

  /** Alive members in order of NodeKey. They are put in order when they are asked for, not by every record. */
  get alive(): readonly Member[] {
    if (!this.#isOrdered) this.#order();
    return this.#alive;
  }

  get(nodeKey: NodeKey): Member | undefined {
    return this.#byKey.get(nodeKey);
  }

  /** How many nodes are known that are not alive. */
  get goneCount(): number {
    return this.#byKey.size - this.aliveCount;
  }

  /** Index of a node among the alive ones; −1 = it is not alive, or not known. */
  indexOf(nodeKey: NodeKey): number {
    if (!this.#isOrdered) this.#order();
    return this.#byKey.get(nodeKey)?.index ?? -1;
  }

  /** Whether a node has a life on the membership partition: it is a member, or was one. */
  isAccepted(nodeKey: NodeKey): boolean {
    return (this.#byKey.get(nodeKey)?.lives[MEMBERSHIP_PARTITION] ?? 0) > 0;
  }

  inSlot(slot: number): Member {
    if (!this.#isOrdered) this.#order();
    return this.#bySlot[slot];
  }

  all(): Iterable<Member> {
    return this.#byKey.values();
  }

  /**
   * Whether a record of this node is accepted. The membership partition alone decides who is a member, so the bound
   * counts only nodes with a life there: all nodes refuse the same, in whatever order they read the partitions. Nodes
   * that only have records on other partitions are bounded to the same number.
   */
  hasRoomFor(nodeKey: NodeKey, partition: number): boolean {
    if (this.#byKey.size < this.#maxNodes) return true;
    if (partition === MEMBERSHIP_PARTITION) return this.isAccepted(nodeKey) || this.#accepted < this.#maxNodes;
    return this.#byKey.has(nodeKey) || this.#byKey.size < 2 * this.#maxNodes;
  }

  /** The member that wrote a record; an unknown one is introduced, and is not alive yet. */
  memberOf(author: Author, logMs: number): Member {
    return this.#byKey.get(author.nodeKey) ?? this.#introduce(author.nodeKey, logMs);
  }

  /**
   * Called for the first record of a newer life on a partition. On the membership partition the node stays as alive as
   * it was: the process that starts takes over what the one before it held.
   */
  beginLife(member: Member, partition: number, incarnation: Incarnation, logMs: number): void {
    if (partition === MEMBERSHIP_PARTITION && member.lives[partition] === 0) this.#accepted++;
    member.lives[partition] = incarnation;
    if (member.state !== 'alive') member.lastSignLogMs = logMs;
    if (partition !== MEMBERSHIP_PARTITION) return;
    member.incarnation = incarnation;
    member.sequence = 0;
    member.olderBeatLogMs = -Infinity;
    if (member.state === 'left') member.state = 'expired';
  }

  /** Notes the sequence of a record on the membership partition; returns false if the record is not news there. */
  noteIfNews(member: Member, { incarnation, sequence }: Author): boolean {
    if (incarnation < member.incarnation || sequence <= member.sequence) return false;
    member.sequence = sequence;
    return true;
  }

  /** Called for a NODE record: the node is alive. Returns whether the set of alive nodes changed. */
  join(member: Member, nodeId: NodeId, version: string, logMs: number, nowMs: number): boolean {
    member.nodeId = nodeId;
    member.version = version;
    member.lastSignLogMs = logMs;
    member.lastSignMs = nowMs;
    if (member.state === 'alive') return false;
    member.state = 'alive';
    this.aliveCount++;
    // A member that left since the last sort is still among them.
    if (member.index === -1) {
      member.index = WAITS;
      this.#alive.push(member);
    }
    this.#changed();
    return true;
  }

  /** Called for a report on the membership partition: a sign of life if the node is a member already. */
  signOfLife(member: Member, logMs: number, nowMs: number): void {
    if (member.state !== 'alive') return;
    member.lastSignLogMs = logMs;
    member.lastSignMs = nowMs;
  }

  leave(member: Member): boolean {
    const wasAlive = member.state === 'alive';
    member.state = 'left';
    if (wasAlive) this.#ended([member]);
    return wasAlive;
  }

  /** Whether a node may have been silent for too long. */
  mayExpire(logMs: number): boolean {
    return logMs > this.#nextExpiryLogMs;
  }

  /**
   * Removes the nodes that have been silent for too long, and returns them.
   * @param speaker gives a sign of life at this very time, so it does not expire; null = nobody does
   */
  expire(logMs: number, speaker: Member | null = null): readonly Member[] {
    if (!this.mayExpire(logMs)) return NO_MEMBERS;
    const expired = this.alive.filter(
      (member) => member !== speaker && logMs - member.lastSignLogMs > this.#stalenessMs,
    );
    for (const member of expired) member.state = 'expired';
    if (expired.length > 0) this.#ended(expired);
    const oldest = this.alive.reduce((least, member) => Math.min(least, member.lastSignLogMs), logMs);
    this.#nextExpiryLogMs = oldest + this.#stalenessMs;
    return expired;
  }

  /** Called for a NODE or FAREWELL record on any partition. Returns false if a later life has written one there. */
  sign(member: Member, partition: number, incarnation: Incarnation): boolean {
    if (incarnation < member.signedLives[partition]) return false;
    member.signedLives[partition] = incarnation;
    if (partition === MEMBERSHIP_PARTITION) member.isBuried = false;
    return true;
  }

  /** Whether somebody has beaten in an older life within `stalenessMs`, so that a process of this id runs. */
  runsInOlderLife(member: Member, logMs: number): boolean {
    return logMs - member.olderBeatLogMs <= this.#stalenessMs;
  }

  /**
   * Called for a tombstone of the NODE key on a partition. A node that is alive writes its key again. A node that only
   * counts as alive, because this reader has missed how long it has been silent, is buried when it expires. A life that
   * is over is remembered as long as a process of this id runs in an older one: that process has to take a life above
   * it, and would be unknown until its next beat if the newer life were forgotten here.
   *
   * @param logMs log time of the membership partition
   */
  bury(member: Member, partition: number, logMs: number): void {
    if (partition === MEMBERSHIP_PARTITION) {
      member.isBuried = member.state === 'alive';
      if (member.isBuried || this.runsInOlderLife(member, logMs)) return;
      member.state = 'expired';
    }
    member.signedLives[partition] = 0;
  }

  /** Sets the newest life to that of the newest record that the log still holds on a partition; 0 = it holds none. */
  fallBack(member: Member, partition: number, { incarnation, sequence }: Omit<Author, 'nodeKey'>): void {
    member.lives[partition] = incarnation;
    if (partition !== MEMBERSHIP_PARTITION) return;
    if (incarnation === 0) this.#accepted--;
    member.incarnation = incarnation;
    member.sequence = sequence;
  }

  /** Called when another log begins: no node is known in it. */
  forgetAll(): void {
    this.#byKey.clear();
    this.#bySlot.length = 1;
    this.#freeSlots.length = 0;
    this.#accepted = 0;
    this.#nextExpiryLogMs = 0;
    for (const member of this.alive) member.state = 'expired';
    this.#ended(this.#alive);
    this.#order();
  }

  /** Drops a forgotten node from memory. Nothing refers to its slot any more, so the next new node gets the slot. */
  drop(member: Member): void {
    this.#byKey.delete(member.nodeKey);
    this.#freeSlots.push(member.slot);
  }

  #introduce(nodeKey: NodeKey, logMs: number): Member {
    const member = this.#createMember(nodeKey, this.#freeSlots.pop() ?? this.#bySlot.length, logMs);
    this.#bySlot[member.slot] = member;
    this.#byKey.set(nodeKey, member);
    return member;
  }

  #createMember(nodeKey: NodeKey, slot: number, logMs: number): Member {
    return {
      nodeKey,
      slot,
      nodeId: '',
      version: '',
      incarnation: 0,
      sequence: 0,
      lives: new Float64Array(this.#partitions),
      signedLives: new Float64Array(this.#partitions),
      isBuried: false,
      lastSignLogMs: logMs,
      olderBeatLogMs: -Infinity,
      lastSignMs: 0,
      state: 'expired',
      index: -1,
    };
  }

  #ended(members: readonly Member[]): void {
    this.aliveCount -= members.length;
    this.#changed();
  }

  #changed(): void {
    this.changes++;
    this.#isOrdered = false;
  }

  /** Drops those that are not alive any more, and sorts newcomers in. */
  #order(): void {
    this.#isOrdered = true;
    this.steps += this.#alive.length;
    let kept = 0;
    for (const member of this.#alive) {
      if (member.state === 'alive') this.#alive[kept++] = member;
      else member.index = -1;
    }
    this.#alive.length = kept;
    this.#alive.sort((one, other) => one.nodeKey - other.nodeKey);
    for (const [at, member] of this.#alive.entries()) member.index = at;
  }
}

/** Whether nothing is left of a node: it is not alive, and the log holds no record of it. */
export function isForgotten(member: Member): boolean {
  return member.state !== 'alive' && newestLife(member) === 0;
}

/** The newest life of a node on any partition, 0 if the node is unknown. Its next life has to be newer. */
export function newestLife(member: Member | undefined): Incarnation {
  let newest = 0;
  if (member !== undefined) for (const life of member.lives) if (life > newest) newest = life;
  return newest;
}

const NO_MEMBERS: readonly Member[] = [];
/** The index of a newcomer that has not been sorted in. */
const WAITS = -2;

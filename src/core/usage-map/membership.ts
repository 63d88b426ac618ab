import type { Author } from '../base/protocol/record.js';
import { type Incarnation, MEMBERSHIP_PARTITION, type NodeId, type NodeKey } from '../base/vocabulary.js';
import { AliveMembers } from './alive-members.js';
import { NOBODYS_SLOT } from './record-store.js';

/** State of one node by the log. */
export interface Member {
  readonly nodeKey: NodeKey;
  /** Small stable number, to which rows of the usage map refer. */
  readonly slot: number;
  nodeId: NodeId;
  version: string;
  /** Newest life on the membership partition; 0 = no record there. */
  incarnation: Incarnation;
  /** Highest sequence of that life on the membership partition. */
  sequence: number;
  /**
   * Newest life per partition by the node's records in the log. A row counts if its life is as new. Partitions do not
   * depend on each other, so they may be read in any order.
   */
  readonly lives: Float64Array;
  /** `lives` by NODE and FAREWELL records alone; 0 = none, or buried. */
  readonly signedLives: Float64Array;
  /** True from a burial of its NODE key until the next record. */
  isBuried: boolean;
  /**
   * Log time of the membership partition at the newest sign of life. For a node that is not alive: when its newest life
   * was first read.
   */
  lastSignLogMs: number;
  /**
   * Log time of the membership partition at the last older beat. −∞ = no beat in an older life than the newest. A
   * process that beats so has found no record of the newer life: a process without the cluster's key has overwritten
   * it.
   */
  olderBeatLogMs: number;
  /** Local monotonic time at which the newest sign of life was read. */
  lastSignMs: number;
  /** State by the membership partition. */
  state: 'alive' | 'left' | 'expired';
}

/**
 * Keeps the cluster's members, partition by partition, each by its log alone.
 *
 * - *On the membership partition* NODE makes a member, FAREWELL removes it, silence for `stalenessMs` of log time
 *   removes it, a newer incarnation replaces the older one. A member there is a member of the cluster.
 * - *On the others* NODE and FAREWELL do the same, and nobody expires: beats are too seldom. For a node that is gone by
 *   the membership partition another node writes FAREWELL there (core/report/said-gone.ts). A group's own partition
 *   decides in the order of its records which nodes share the group.
 *
 * So membership shrinks as well as it grows, and all who have read a partition equally far agree on it.
 */
export class Membership {
  readonly #stalenessMs: number;
  readonly #partitions: number;
  readonly #byKey = new Map<NodeKey, Member>();
  readonly #bySlot: Member[];
  /** By partition. */
  readonly #alive: readonly AliveMembers[];
  /** Free slots of dropped nodes. */
  readonly #freeSlots: number[] = [];
  readonly #maxNodes: number;
  /** Number of nodes with a life on the membership partition. */
  #accepted = 0;
  /** Log time before which no node expires. A lower bound: signs of life only postpone expiry. */
  #nextExpiryLogMs = 0;

  constructor(stalenessMs: number, partitions: number, maxNodes = Infinity) {
    this.#stalenessMs = stalenessMs;
    this.#partitions = partitions;
    this.#maxNodes = maxNodes;
    this.#bySlot = [this.#createMember(0, NOBODYS_SLOT, 0)];
    this.#alive = Array.from({ length: partitions }, () => new AliveMembers());
  }

  on(partition: number): AliveMembers {
    return this.#alive[partition];
  }

  /** Members of the cluster, in order of NodeKey. */
  get alive(): readonly Member[] {
    return this.#alive[MEMBERSHIP_PARTITION].members;
  }

  get aliveCount(): number {
    return this.#alive[MEMBERSHIP_PARTITION].count;
  }

  /** Number of joins and departures on all partitions. */
  get changes(): number {
    let changes = 0;
    for (const alive of this.#alive) changes += alive.changes;
    return changes;
  }

  /** Members looked at so far for sorting: the cost of changes, as a count. */
  get steps(): number {
    return this.#alive.reduce((sum, { steps }) => sum + steps, 0);
  }

  get(nodeKey: NodeKey): Member | undefined {
    return this.#byKey.get(nodeKey);
  }

  /** Number of nodes that are known and not alive. */
  get goneCount(): number {
    return this.#byKey.size - this.aliveCount;
  }

  /** Finds a node's index among the alive ones of a partition; −1 = none. */
  indexOf(nodeKey: NodeKey, partition = MEMBERSHIP_PARTITION): number {
    const member = this.#byKey.get(nodeKey);
    return member === undefined ? -1 : this.on(partition).indexOf(member.slot);
  }

  /** Tests if a node is or was a member of the cluster. */
  isAccepted(nodeKey: NodeKey): boolean {
    return (this.#byKey.get(nodeKey)?.lives[MEMBERSHIP_PARTITION] ?? 0) > 0;
  }

  inSlot(slot: number): Member {
    return this.#bySlot[slot];
  }

  all(): Iterable<Member> {
    return this.#byKey.values();
  }

  /**
   * Tests if a record of this node is accepted. The membership partition alone decides about members, so the bound
   * counts only nodes with a life there: all nodes refuse the same, in whatever order they read the partitions. Nodes
   * with records on other partitions only are bounded to the same number.
   */
  hasRoomFor(nodeKey: NodeKey, partition: number): boolean {
    if (this.#byKey.size < this.#maxNodes) return true;
    if (partition === MEMBERSHIP_PARTITION) return this.isAccepted(nodeKey) || this.#accepted < this.#maxNodes;
    return this.#byKey.has(nodeKey) || this.#byKey.size < 2 * this.#maxNodes;
  }

  /** Finds the author of a record. An unknown one is introduced, and is not alive yet. */
  memberOf({ nodeKey }: Author, logMs: number): Member {
    const known = this.#byKey.get(nodeKey);
    if (known !== undefined) return known;
    const member = this.#createMember(nodeKey, this.#freeSlots.pop() ?? this.#bySlot.length, logMs);
    this.#bySlot[member.slot] = member;
    this.#byKey.set(nodeKey, member);
    return member;
  }

  /**
   * Begins a newer life on a partition. On the membership partition the node stays as alive as it was: the process that
   * starts takes over the shares of the one before it.
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

  /** Notes a record's sequence on the membership partition; false = no news there. */
  noteIfNews(member: Member, { incarnation, sequence }: Author): boolean {
    if (incarnation < member.incarnation || sequence <= member.sequence) return false;
    member.sequence = sequence;
    return true;
  }

  /** Notes a NODE record on the membership partition; returns true if the node was not alive. */
  join(member: Member, nodeId: NodeId, version: string, logMs: number, nowMs: number): boolean {
    member.nodeId = nodeId;
    member.version = version;
    member.lastSignLogMs = logMs;
    member.lastSignMs = nowMs;
    member.state = 'alive';
    return this.on(MEMBERSHIP_PARTITION).add(member);
  }

  /** Notes a NODE record elsewhere; returns true if the node was not alive there. */
  joinOn(partition: number, member: Member, nodeId: NodeId): boolean {
    member.nodeId = nodeId;
    return this.on(partition).add(member);
  }

  /** Notes a FAREWELL elsewhere; returns true if the node was alive there. */
  leaveOn(partition: number, member: Member, nodeId: NodeId): boolean {
    member.nodeId = nodeId;
    return this.on(partition).remove(member);
  }

  /** Notes a report on the membership partition: a member's sign of life. */
  signOfLife(member: Member, logMs: number, nowMs: number): void {
    if (member.state !== 'alive') return;
    member.lastSignLogMs = logMs;
    member.lastSignMs = nowMs;
  }

  leave(member: Member): boolean {
    member.state = 'left';
    return this.on(MEMBERSHIP_PARTITION).remove(member);
  }

  /** Tests if a node may have been silent for too long. */
  mayExpire(logMs: number): boolean {
    return logMs > this.#nextExpiryLogMs;
  }

  /**
   * Removes and returns the nodes that have been silent for too long.
   * @param author gives a sign of life at this very time, so it does not expire; null = nobody does
   */
  expire(logMs: number, author: Member | null = null): readonly Member[] {
    if (!this.mayExpire(logMs)) return NO_MEMBERS;
    const expired = this.alive.filter(
      (member) => member !== author && logMs - member.lastSignLogMs > this.#stalenessMs,
    );
    for (const member of expired) {
      member.state = 'expired';
      this.on(MEMBERSHIP_PARTITION).remove(member);
    }
    const oldest = this.alive.reduce((least, member) => Math.min(least, member.lastSignLogMs), logMs);
    this.#nextExpiryLogMs = oldest + this.#stalenessMs;
    return expired;
  }

  /** Notes a NODE or FAREWELL record on a partition; false = a later life has written one there. */
  sign(member: Member, partition: number, incarnation: Incarnation): boolean {
    if (incarnation < member.signedLives[partition]) return false;
    member.signedLives[partition] = incarnation;
    if (partition === MEMBERSHIP_PARTITION) member.isBuried = false;
    return true;
  }

  /** Tests if a process of this id runs in an older life: it has beaten within `stalenessMs`. */
  runsInOlderLife(member: Member, logMs: number): boolean {
    return logMs - member.olderBeatLogMs <= this.#stalenessMs;
  }

  /**
   * Applies a tombstone of the NODE key on a partition. A node that is alive writes its key again. A node that only
   * counts as alive, because this reader has missed its silence, is buried when it expires. A life that is over is
   * remembered while a process of this id runs in an older one: that process has to take a life above it, and would be
   * unknown until its next beat if the newer life were forgotten. On other partitions a node is alive as long as its
   * key stands there, so that newcomers read the same.
   *
   * @param logMs log time of the membership partition
   */
  bury(member: Member, partition: number, logMs: number): void {
    if (partition === MEMBERSHIP_PARTITION) {
      member.isBuried = member.state === 'alive';
      if (member.isBuried || this.runsInOlderLife(member, logMs)) return;
      member.state = 'expired';
    } else this.on(partition).remove(member);
    member.signedLives[partition] = 0;
  }

  /** Sets the newest life to that of the newest record left; 0 = none. */
  fallBack(member: Member, partition: number, { incarnation, sequence }: Omit<Author, 'nodeKey'>): void {
    member.lives[partition] = incarnation;
    if (partition !== MEMBERSHIP_PARTITION) return;
    if (incarnation === 0) this.#accepted--;
    member.incarnation = incarnation;
    member.sequence = sequence;
  }

  forgetAll(): void {
    this.#byKey.clear();
    this.#bySlot.length = 1;
    this.#freeSlots.length = 0;
    this.#accepted = 0;
    this.#nextExpiryLogMs = 0;
    for (const member of this.alive) member.state = 'expired';
    for (const alive of this.#alive) alive.clear();
  }

  /** Drops a forgotten node from memory. Nothing refers to its slot any more, so the next new node gets the slot. */
  drop(member: Member): void {
    this.#byKey.delete(member.nodeKey);
    this.#freeSlots.push(member.slot);
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
    };
  }
}

/** Tests if nothing is left of a node: it is not alive, and the log holds no record of it. */
export function isForgotten(member: Member): boolean {
  return member.state !== 'alive' && newestLife(member) === 0;
}

/** Finds a node's newest life on any partition; 0 = unknown. Its next life has to be newer. */
export function newestLife(member: Member | undefined): Incarnation {
  let newest = 0;
  if (member !== undefined) for (const life of member.lives) if (life > newest) newest = life;
  return newest;
}

const NO_MEMBERS: readonly Member[] = [];

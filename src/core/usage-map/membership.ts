import type { Author } from '../base/protocol/record.js';
import type { Incarnation, NodeId, NodeKey } from '../base/vocabulary.js';
import { MEMBERSHIP_PARTITION } from '../base/vocabulary.js';
import { AliveMembers } from './alive-members.js';
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
   * as this one. Partitions do not depend on each other, so it does not matter in which order they are read.
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
  /** State by the membership partition. */
  state: 'alive' | 'left' | 'expired';
}

/**
 * The members of the cluster, partition by partition, each as a function of that partition's log alone.
 *
 * - *On the membership partition* NODE makes a member, FAREWELL removes it, silence for `stalenessMs` of log time
 *   removes it, a newer incarnation replaces the older one. Whoever is a member there is a member of the cluster.
 * - *On the others* NODE and FAREWELL do the same, and nobody expires: beats are too seldom. Of a node that the
 *   membership partition counts as gone another one says FAREWELL there (core/report/said-gone.ts). Who shares a group
 *   is said by the group's own partition, in the order of its records.
 *
 * So membership shrinks as well as it grows, and everyone who has read a partition as far agrees on it.
 */
export class Membership {
  readonly #stalenessMs: number;
  readonly #partitions: number;
  readonly #byKey = new Map<NodeKey, Member>();
  readonly #bySlot: Member[];
  /** By partition. */
  readonly #alive: readonly AliveMembers[];
  /** Slots of nodes that were dropped. */
  readonly #freeSlots: number[] = [];
  readonly #maxNodes: number;
  /** Nodes that have a life on the membership partition. */
  #accepted = 0;
  /** No node expires before this log time; a lower bound, because signs of life only postpone expiry. */
  #nextExpiryLogMs = 0;

  constructor(stalenessMs: number, partitions: number, maxNodes = Infinity) {
    this.#stalenessMs = stalenessMs;
    this.#partitions = partitions;
    this.#maxNodes = maxNodes;
    this.#bySlot = [this.#createMember(0, NOBODYS_SLOT, 0)];
    this.#alive = Array.from({ length: partitions }, () => new AliveMembers());
  }

  /** The members that are alive on a partition. */
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

  /** Rises whenever somebody comes or goes on any partition. */
  get changes(): number {
    let changes = 0;
    for (const alive of this.#alive) changes += alive.changes;
    return changes;
  }

  /** Members looked at so far to put the alive ones in order: what a change of members costs, as a count. */
  get steps(): number {
    return this.#alive.reduce((sum, { steps }) => sum + steps, 0);
  }

  get(nodeKey: NodeKey): Member | undefined {
    return this.#byKey.get(nodeKey);
  }

  /** Nodes that are known and not alive. */
  get goneCount(): number {
    return this.#byKey.size - this.aliveCount;
  }

  /** Index of a node among those that are alive on a partition; −1 = it is not alive there, or not known. */
  indexOf(nodeKey: NodeKey, partition = MEMBERSHIP_PARTITION): number {
    const member = this.#byKey.get(nodeKey);
    return member === undefined ? -1 : this.on(partition).indexOf(member.slot);
  }

  /** Tests if a node has a life on the membership partition: it is a member, or was one. */
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
   * Tests if a record of this node is accepted. The membership partition alone decides who is a member, so the bound
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

  /** Called for a NODE record on the membership partition: the node is alive. Returns whether that is new. */
  join(member: Member, nodeId: NodeId, version: string, logMs: number, nowMs: number): boolean {
    member.nodeId = nodeId;
    member.version = version;
    member.lastSignLogMs = logMs;
    member.lastSignMs = nowMs;
    member.state = 'alive';
    return this.on(MEMBERSHIP_PARTITION).add(member);
  }

  /** Called for a NODE record of the newest life on another partition. Returns whether the node was not alive there. */
  joinOn(partition: number, member: Member, nodeId: NodeId): boolean {
    member.nodeId = nodeId;
    return this.on(partition).add(member);
  }

  /** Called for a FAREWELL of the newest life on another partition. Returns whether the node was alive there. */
  leaveOn(partition: number, member: Member, nodeId: NodeId): boolean {
    member.nodeId = nodeId;
    return this.on(partition).remove(member);
  }

  /** Called for a report on the membership partition: a sign of life if the node is a member already. */
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
   * Removes the nodes that have been silent for too long, and returns them.
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

  /** Called for a NODE or FAREWELL record on any partition. Returns false if a later life has written one there. */
  sign(member: Member, partition: number, incarnation: Incarnation): boolean {
    if (incarnation < member.signedLives[partition]) return false;
    member.signedLives[partition] = incarnation;
    if (partition === MEMBERSHIP_PARTITION) member.isBuried = false;
    return true;
  }

  /** Tests if somebody has beaten in an older life within `stalenessMs`, so that a process of this id runs. */
  runsInOlderLife(member: Member, logMs: number): boolean {
    return logMs - member.olderBeatLogMs <= this.#stalenessMs;
  }

  /**
   * Called for a tombstone of the NODE key on a partition. A node that is alive writes its key again. A node that only
   * counts as alive, because this reader has missed how long it has been silent, is buried when it expires. A life that
   * is over is remembered as long as a process of this id runs in an older one: that process has to take a life above
   * it, and would be unknown until its next beat if the newer life were forgotten here. On other partitions a node is
   * alive as long as its key stands there, so that newcomers know the same.
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
    for (const alive of this.#alive) alive.clear();
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
    };
  }
}

/** Tests if nothing is left of a node: it is not alive, and the log holds no record of it. */
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

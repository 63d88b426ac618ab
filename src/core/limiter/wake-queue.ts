import { QUEUE_CUT_ITEMS } from './constants.js';

/** Queues the items of one waiting connection, client or producer. Made once, reused for all its items. */
export class WakeOwner<Item> {
  /** An owner with twice the weight gets twice as much; ≥ 1. */
  readonly weight: number;
  /** Items in the order of arrival; those before `head` are gone. */
  readonly items: { readonly item: Item; readonly cost: number }[] = [];
  head = 0;
  /** Bound of the waiting items' costs: the largest since this owner last had none. */
  largestCost = 0;
  deficit = 0;
  next: WakeOwner<Item> | null = null;
  previous: WakeOwner<Item> | null = null;

  constructor(weight = 1) {
    this.weight = weight;
  }

  get isQueued(): boolean {
    return this.next !== null;
  }

  get isEmpty(): boolean {
    return this.head === this.items.length;
  }

  get size(): number {
    return this.items.length - this.head;
  }

  push(item: Item, cost: number): void {
    this.largestCost = this.isEmpty ? cost : Math.max(this.largestCost, cost);
    this.items.push({ item, cost });
  }

  /** Removes the items for which `isKept` is false; the others keep their order. */
  keep(isKept: (item: Item) => boolean): void {
    let kept = 0;
    for (let at = this.head; at < this.items.length; at++) {
      const waiting = this.items[at];
      if (isKept(waiting.item)) this.items[kept++] = waiting;
    }
    this.items.length = kept;
    this.head = 0;
  }
}

/**
 * Decides whose turn it is: deficit round robin over owners (Shreedhar and Varghese 1995). Each turn gives an owner
 * weight × quantum; it is served while that covers its next item. With a quantum as large as the largest cost every
 * turn serves somebody, so finding the next one takes constant time. Two owners that always wait differ by at most one
 * quantum per weight, over any stretch of time.
 * Worked: A waits with items of cost 1, B with items of cost 4 → per turn four of A, one of B: equal cost.
 *
 * An owner's items keep their order. An owner that leaves is unlinked in constant time and costs nothing afterwards.
 *
 * Requests that do not wait (`mayPass`) count together as one more owner. It may take as much as the average waiting
 * owner, so that neither kind of request starves the other.
 */
export class WakeQueue<Item> {
  #current: WakeOwner<Item> | null = null;
  #owners = 0;
  #quantum = 0;
  /** Cost of the last item that took all tokens; below, the number of further turns as large. */
  #partCost = 0;
  #partTurns = 0;
  #passCredit = 0;
  readonly #isLive: (item: Item) => boolean;

  /** @param isLive tests an item at the front; others are dropped without a turn */
  constructor(isLive: (item: Item) => boolean = () => true) {
    this.#isLive = isLive;
  }

  /** Owners in line. */
  get owners(): number {
    return this.#owners;
  }

  /** @param cost in any one unit, ≥ 0; 0 = owners take turns item by item */
  add(owner: WakeOwner<Item>, item: Item, cost: number): void {
    owner.push(item, cost);
    if (cost > this.#quantum) this.#quantum = cost;
    if (!owner.isQueued) this.rejoin(owner);
  }

  /** Returns the owner whose turn it is; null without owners in line. */
  peek(): WakeOwner<Item> | null {
    for (let turns = 0; ; ) {
      const owner = this.#current;
      if (owner === null) return null;
      while (!owner.isEmpty && !this.#isLive(owner.items[owner.head].item)) advance(owner);
      if (owner.isEmpty) this.leave(owner);
      else if (owner.deficit >= nextCost(owner)) return owner;
      else if (turns++ <= this.#owners) this.#turn(owner.next as WakeOwner<Item>);
      else this.#skipTurns(owner);
    }
  }

  /** Takes the next item of the owner that `peek` has returned. */
  take(owner: WakeOwner<Item>): Item {
    return this.#taken(owner, nextCost(owner));
  }

  /**
   * Takes the next item at the cost of all tokens left. As many of the next turns as there are others in line are then
   * as large as this part, if it exceeds a turn. The next part sets size and number anew, even a small one. No owner
   * gains in the long run, because it owes the cost beyond its turn.
   */
  takePart(owner: WakeOwner<Item>, cost: number): Item {
    this.#partCost = cost;
    this.#partTurns = owner.head + 1 === owner.items.length ? this.#owners - 1 : this.#owners;
    return this.#taken(owner, cost);
  }

  #taken(owner: WakeOwner<Item>, cost: number): Item {
    const { item } = owner.items[owner.head];
    this.#passCredit = Math.min(this.#turnCost, this.#passCredit + cost / this.#owners);
    owner.deficit -= cost;
    advance(owner);
    if (owner.isEmpty) this.leave(owner);
    else if (cost === 0) this.#turn(owner.next as WakeOwner<Item>);
    return item;
  }

  /** Takes an owner out of line: it has no items, is closed, or cannot be served. It keeps its items. */
  leave(owner: WakeOwner<Item>): void {
    if (!owner.isQueued) return;
    const next = owner.next as WakeOwner<Item>;
    if (next === owner) {
      this.#current = null;
      this.#quantum = 0;
      this.#partTurns = 0;
      this.#passCredit = 0;
    } else {
      next.previous = owner.previous;
      (owner.previous as WakeOwner<Item>).next = next;
      if (this.#current === owner) this.#turn(next);
    }
    owner.next = null;
    owner.previous = null;
    owner.deficit = 0;
    this.#owners--;
  }

  /** Puts an owner with its items at the end of the line. */
  rejoin(owner: WakeOwner<Item>): void {
    const first = this.#current;
    if (first === null) {
      owner.next = owner;
      owner.previous = owner;
      this.#current = owner;
      owner.deficit = 0;
      this.#quantum = owner.largestCost;
      owner.deficit = this.#quantum * owner.weight;
    } else {
      const last = first.previous as WakeOwner<Item>;
      owner.next = first;
      owner.previous = last;
      last.next = owner;
      first.previous = owner;
      this.#quantum = Math.max(this.#quantum, owner.largestCost);
    }
    this.#owners++;
  }

  /** Tests if a request that does not wait may take this cost. */
  mayPass(cost: number): boolean {
    return this.#current === null || (this.#passCredit >= cost && this.#passCredit > 0);
  }

  /**
   * Counts a granted request that did not wait. `mayPass` alone counts nothing: a request that finds no tokens has had
   * no turn, however often it tries.
   */
  passed(cost: number): void {
    this.#passCredit = Math.max(0, this.#passCredit - cost);
  }

  #turn(owner: WakeOwner<Item>): void {
    this.#current = owner;
    owner.deficit += this.#turnCost * owner.weight;
    if (this.#partTurns > 0) this.#partTurns--;
  }

  /**
   * Skips all turns that would serve nobody, equally many of every owner. After an item that took a large part there
   * can be millions of them, or endlessly many if costs have become 0 (no limit). Called only when every owner has just
   * had a turn, because then every owner has a live item.
   */
  #skipTurns(from: WakeOwner<Item>): void {
    let first = from;
    let turns = Infinity;
    for (let at = 0, owner = from; at < this.#owners; at++, owner = owner.next as WakeOwner<Item>) {
      const missing = (nextCost(owner) - owner.deficit) / owner.weight;
      if (missing >= turns) continue;
      first = owner;
      turns = missing;
    }
    for (let at = 0, owner = from; at < this.#owners; at++, owner = owner.next as WakeOwner<Item>) {
      owner.deficit += turns * owner.weight;
    }
    // Exactly its cost, whatever the rounding: otherwise the owner would lack a little again.
    first.deficit = nextCost(first);
    this.#current = first;
  }

  get #turnCost(): number {
    return this.#partTurns === 0 ? this.#quantum : Math.max(this.#quantum, this.#partCost);
  }
}

function advance<Item>(owner: WakeOwner<Item>): void {
  owner.head++;
  if (owner.head < QUEUE_CUT_ITEMS && owner.head < owner.items.length) return;
  owner.items.splice(0, owner.head);
  owner.head = 0;
}

function nextCost<Item>({ items, head }: WakeOwner<Item>): number {
  return items[head].cost;
}

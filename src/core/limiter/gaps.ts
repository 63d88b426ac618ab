/** Keeps the gaps of a slot, up to its newest open reservation. */
export class Room {
  newest: Gap | null = null;
  isGone = false;
  #sum = 0;

  /** Opens a gap for the room that no older gap holds. */
  open(room: number): Gap {
    const gap = new Gap(Math.max(0, room - this.#sum), this.newest);
    if (this.newest !== null) this.newest.newer = gap;
    this.newest = gap;
    this.#sum += gap.amount;
    return gap;
  }

  shrinkTo(room: number): void {
    let gap = this.newest;
    while (gap !== null && this.#sum > room) {
      this.#cut(gap, this.#sum - room);
      gap = this.#mergeIfClosed(gap);
    }
    if (this.newest === null) this.#sum = 0;
  }

  /** Closes up to `most` units from this gap downwards; returns the units closed. */
  close(from: Gap, most: number): number {
    let left = most;
    for (let gap: Gap | null = from; gap !== null && left > 0; gap = this.#mergeIfClosed(gap)) {
      left -= this.#cut(gap, left);
    }
    return most - left;
  }

  /** Called when a reservation of this gap has ended. A gap without reservations joins the next newer one, or ends. */
  leave(gap: Gap): void {
    gap.owners--;
    if (gap.owners > 0) return;
    if (gap.newer === null) this.#sum -= gap.amount;
    else gap.newer.amount += gap.amount;
    this.#unlink(gap);
  }

  #cut(gap: Gap, most: number): number {
    const cut = Math.min(gap.amount, most);
    gap.amount -= cut;
    this.#sum -= cut;
    return cut;
  }

  /** Merges a closed gap into the older one. Returns that one; null if this gap is open, or the oldest. */
  #mergeIfClosed(gap: Gap): Gap | null {
    const { older } = gap;
    if (gap.amount > 0 || older === null) return null;
    older.owners += gap.owners;
    gap.mergedInto = older;
    this.#unlink(gap);
    return older;
  }

  #unlink({ older, newer }: Gap): void {
    if (older !== null) older.newer = newer;
    if (newer === null) this.newest = older;
    else newer.older = older;
  }
}

/** Holds room that appeared between the older gap and its owners. */
export class Gap {
  amount: number;
  owners = 1;
  older: Gap | null;
  newer: Gap | null = null;
  /** The gap that this one has become a part of. */
  mergedInto: Gap | null = null;

  constructor(amount: number, older: Gap | null) {
    this.amount = amount;
    this.older = older;
  }
}

/** Returns the gap that holds this one after all merges. Shortens the way to it. */
export function wholeGap(gap: Gap): Gap {
  let found = gap;
  while (found.mergedInto !== null) found = found.mergedInto;
  for (let at = gap; at !== found; ) {
    const next = at.mergedInto as Gap;
    at.mergedInto = found;
    at = next;
  }
  return found;
}

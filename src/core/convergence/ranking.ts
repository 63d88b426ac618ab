/** Tests if participant `left` stands before `right`. Must be a strict order of all of them. */
export type Before = (left: number, right: number) => boolean;

/**
 * Sorts the first `count` numbers of `order` in place. It is a heap sort: the built-in sort of a part of a typed array
 * allocates, and this runs in every round.
 */
export function rank(order: Int32Array, count: number, before: Before): void {
  for (let root = (count >> 1) - 1; root >= 0; root--) sink(order, root, count, before);
  for (let end = count - 1; end > 0; end--) {
    swap(order, 0, end);
    sink(order, 0, end, before);
  }
}

/** Sinks a number in the heap; its root is last in order. */
function sink(order: Int32Array, from: number, count: number, before: Before): void {
  let root = from;
  for (;;) {
    let child = 2 * root + 1;
    if (child >= count) return;
    if (child + 1 < count && before(order[child], order[child + 1])) child++;
    if (!before(order[root], order[child])) return;
    swap(order, root, child);
    root = child;
  }
}

function swap(order: Int32Array, left: number, right: number): void {
  const kept = order[left];
  order[left] = order[right];
  order[right] = kept;
}

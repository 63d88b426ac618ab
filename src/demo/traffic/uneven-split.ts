/** The part of the traffic that the busiest node takes. */
const BUSIEST_PART = 0.7;
/** Every so often the next node becomes the busiest. */
export const SWITCH_EVERY_MS = 10_000;

/**
 * Which of the nodes a request goes to: one takes 70 %, the others share the rest, and every 10 s another one is the busiest.
 *
 * @param random 0 ≤ random < 1
 * @param nodes of those that are alive, in their order, ≥ 1
 */
export function unevenSplit<Node>(elapsedMs: number, random: number, nodes: readonly Node[]): Node {
  const busiest = Math.floor(elapsedMs / SWITCH_EVERY_MS) % nodes.length;
  if (random < BUSIEST_PART || nodes.length === 1) return nodes[busiest];
  const other = Math.floor(((random - BUSIEST_PART) / (1 - BUSIEST_PART)) * (nodes.length - 1));
  return nodes[(busiest + 1 + other) % nodes.length];
}

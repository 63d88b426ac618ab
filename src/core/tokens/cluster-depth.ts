/**
 * The depth of a lane's bucket in the cluster where none is configured, units: the most of 100 ms of the target, three
 * standard deviations of a second's arrivals, and ten pieces of work; at most one second, or ten pieces where that is
 * more.
 *
 * Worked: 1,000/s of messages → 100. 100/s → 30. 10/s → 10. 5/s → 10.
 *
 * @param piece units of a piece of work; 1 for messages
 */
export function clusterDepth(perSecond: number, piece: number): number {
  const wanted = Math.max(0.1 * perSecond, 3 * Math.sqrt(perSecond * piece), 10 * piece);
  return Math.min(wanted, Math.max(perSecond, 10 * piece));
}

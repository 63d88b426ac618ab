export interface GroupCost {
  readonly group: string;
  /** Units per second on one backend. */
  readonly cost: number;
}

/**
 * Picks the groups that cost most on a backend (FoundationDB: the top 5 tags of a server above 100 pages/s): at most
 * `most` groups, each with a total cost of at least `floor`, in falling order of cost, then by name.
 */
export function busiest(costs: readonly GroupCost[], most: number, floor: number): readonly GroupCost[] {
  const perGroup = new Map<string, number>();
  for (const { group, cost } of costs) perGroup.set(group, (perGroup.get(group) ?? 0) + cost);
  return Array.from(perGroup, ([group, cost]) => ({ group, cost }))
    .filter(({ cost }) => cost >= floor)
    .sort((one, other) => other.cost - one.cost || (one.group < other.group ? -1 : 1))
    .slice(0, most);
}

export type Labels = Readonly<Record<string, string>>;

/** Reads a metric, with one call per series. */
export type Reading = (series: (value: number, labels?: Labels) => void) => void;

/** Reads a series per value, by whose name the label tells it apart. */
export function byLabel(label: string, values: () => Readonly<Record<string, number>>): Reading {
  return (series) => {
    for (const [name, value] of Object.entries(values())) series(value, { [label]: name });
  };
}

/** Counts what is found of each name; one that is not found is 0. */
export function countedBy(label: string, names: readonly string[], found: () => Iterable<string>): Reading {
  return byLabel(label, () => {
    const counts = Object.fromEntries(names.map((name) => [name, 0]));
    for (const name of found()) counts[name]++;
    return counts;
  });
}

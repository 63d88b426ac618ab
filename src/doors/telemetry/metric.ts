export type Labels = Readonly<Record<string, string>>;

export interface MetricRow {
  readonly type: 'gauge' | 'counter';
  readonly help: string;
  readonly labels: readonly string[];
}

export type Series = (value: number, labels?: Labels) => void;

/** Reads a metric with labels, with one call per series. */
export interface Labelled<Source> {
  readonly labels: readonly string[];
  read(source: Source, series: Series): void;
}

export interface Metric<Source> extends MetricRow, Labelled<Source> {}

export type MetricTable<Source> = Readonly<Record<string, Metric<Source>>>;

/** Reads a metric without labels; null and undefined have no series. */
type Reading<Source> = (source: Source) => number | boolean | null | undefined;

export function gauge<Source>(help: string, reading: Reading<Source> | Labelled<Source>): Metric<Source> {
  return { type: 'gauge', help, ...labelled(reading) };
}

export function counter<Source>(help: string, reading: Reading<Source> | Labelled<Source>): Metric<Source> {
  return { type: 'counter', help, ...labelled(reading) };
}

function labelled<Source>(reading: Reading<Source> | Labelled<Source>): Labelled<Source> {
  if (typeof reading !== 'function') return reading;
  return {
    labels: [],
    read: (source, series) => {
      const value = reading(source);
      if (value !== null && value !== undefined) series(Number(value));
    },
  };
}

/** Makes two metrics: `*` in the name becomes messages or bytes. */
export function perDimension<Row>(name: string, make: (at: number, units: string) => Row): Record<string, Row> {
  const rows = ['Messages', 'Bytes'].map((units, at) => [name.replace('*', units.toLowerCase()), make(at, units)]);
  return Object.fromEntries(rows);
}

/** Reads a series per value; its name is the label's value. */
export function byLabel<Source>(
  label: string,
  values: (source: Source) => Readonly<Record<string, number>>,
): Labelled<Source> {
  return {
    labels: [label],
    read: (source, series) => {
      for (const [name, value] of Object.entries(values(source))) series(value, { [label]: name });
    },
  };
}

/** Counts what is found of each name; one that is not found is 0. */
export function countedBy<Source>(
  label: string,
  names: readonly string[],
  found: (source: Source) => Iterable<string>,
): Labelled<Source> {
  return byLabel(label, (source) => {
    const counts = Object.fromEntries(names.map((name) => [name, 0]));
    for (const name of found(source)) counts[name]++;
    return counts;
  });
}

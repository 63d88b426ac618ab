import type { NamePattern } from './setting.js';

/** Selects series by metric and labels: `byte_rate{type="Produce"}`. */
export interface MetricSelector {
  readonly metric: string;
  readonly labels: ReadonlyMap<string, string>;
}

export const METRIC_SELECTOR: NamePattern = {
  matches: /^[A-Za-z_:]\w{0,199}(?:\{(?:\s*[A-Za-z_]\w*="(?:[^"\\\n]|\\.)*"\s*(?:,(?=\s*[A-Za-z_])|(?=\})))+\})?$/,
  text: 'the name of a metric, or name{label="value"}: letters, digits and _ :, and values in double quotes',
};

/** Takes a text that METRIC_SELECTOR matches. */
export function selectorOf(text: string): MetricSelector {
  const brace = text.indexOf('{');
  if (brace === -1) return { metric: text, labels: new Map() };
  return { metric: text.slice(0, brace), labels: labelsOf(text, brace + 1).labels };
}

/** Checks whether a series could match both. */
export function mayBothMatch(one: MetricSelector, other: MetricSelector): boolean {
  if (one.metric !== other.metric) return false;
  for (const [label, value] of one.labels) if ((other.labels.get(label) ?? value) !== value) return false;
  return true;
}

/** Reads labels of a line of Prometheus' text, up to `end`. It is behind their brace. */
export function labelsOf(line: string, from: number) {
  const labels = new Map<string, string>();
  const label = /\s*([A-Za-z_]\w*)="((?:[^"\\]|\\.)*)"\s*,?/y;
  label.lastIndex = from;
  let end = from;
  for (let found = label.exec(line); found !== null; found = label.exec(line)) {
    labels.set(found[1], unescaped(found[2]));
    end = label.lastIndex;
  }
  return { labels, end: line.indexOf('}', end) + 1 };
}

export function unescaped(text: string): string {
  return text.replaceAll(/\\(.)/g, (_, letter: string) => (letter === 'n' ? '\n' : letter));
}

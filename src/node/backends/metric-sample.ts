/**
 * Finds one sample in a Prometheus page: `queue_bytes`, or `queue_bytes{shard="1"}` with perhaps more labels. The rest
 * of the page is not parsed. Throws without a sample, or with several.
 */
export function metricSample(page: string, wanted: string): number {
  const [, name = '', labels = ''] = /^([^{]+)(?:\{(.*)\})?$/.exec(wanted) ?? [];
  const asked = labelsOf(labels);
  const values: number[] = [];
  for (const line of page.split('\n')) {
    if (!line.startsWith(name)) continue;
    const [, itsName, itsLabels = '', value] = SAMPLE.exec(line) ?? [];
    if (itsName !== name) continue;
    const found = labelsOf(itsLabels);
    if ([...asked].every(([label, text]) => found.get(label) === text)) values.push(Number(value));
  }
  if (values.length === 0) throw new Error(`no sample of ${wanted}`);
  if (values.length > 1) throw new Error(`${values.length} samples of ${wanted}: add labels until there is one`);
  return values[0];
}

const SAMPLE = /^([A-Za-z_:][\w:]*)(?:\{((?:[^"}]|"(?:[^"\\]|\\.)*")*)\})?[ \t]+(\S+)/;

function labelsOf(text: string): ReadonlyMap<string, string> {
  const pairs = text.matchAll(/([A-Za-z_]\w*)="((?:[^"\\]|\\.)*)"/g);
  return new Map(Array.from(pairs, ([, label = '', value = '']) => [label, value]));
}

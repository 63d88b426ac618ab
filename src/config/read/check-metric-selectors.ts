import type { Findings } from '../setting/findings.js';
import { mayBothMatch, selectorOf } from '../setting/metric-selector.js';
import { show } from '../setting/setting-text.js';

/** The settings of `kafkaQuotas.metrics` that select series. */
const SELECTORS = ['producerRate', 'producerThrottle', 'consumerRate', 'consumerThrottle'] as const;

type Selectors = { readonly [Name in (typeof SELECTORS)[number]]?: string | undefined };

/** Refuses two selectors of one series: a producer's bytes would count as a consumer's. */
export function checkMetricSelectors(metrics: Selectors, findings: Findings): void {
  const read = SELECTORS.flatMap((name) => {
    const text = metrics[name];
    return text === undefined ? [] : [{ name, text, selector: selectorOf(text) }];
  });
  for (const [at, { name, text, selector }] of read.entries()) {
    const first = read.slice(0, at).find((other) => mayBothMatch(other.selector, selector));
    if (first === undefined) continue;
    const problem = `must match other series than kafkaQuotas.metrics.${first.name} = ${show(first.text)}, got ${show(text)}`;
    const allowed = 'another metric, or another value of a label that both name';
    const remedy = `Name the label that tells them apart, e.g. ${selector.metric}{type="Produce"} and ${selector.metric}{type="Fetch"}.`;
    findings.add(['kafkaQuotas', 'metrics', name], { problem, allowed, remedy });
  }
}

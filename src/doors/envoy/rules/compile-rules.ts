import { didYouMean } from '../../../base/input/nearest-name.js';
import type { GroupConfig, KeyTemplate } from '../../../config/resolved/resolved-config.js';
import type { FoundMistake } from '../../../config/setting/findings.js';
import { TIME_UNITS } from '../../../config/setting/quantity.js';
import { show } from '../../../config/setting/setting-text.js';
import type { DescriptorEntry, DescriptorRule, DescriptorRules } from './descriptor-rules.js';
import { type RuleLevel, ruleName } from './rule-names.js';
import { type RuleRate, RuleSettings, shownRuleRate, unitOf } from './rule-settings.js';
import { findRule, KeyRules, type RuleLevels, type RuleNode } from './rule-tree.js';
import {
  type RuleFindings,
  type RulePlace,
  shownPlace,
  type WrittenDescriptor,
  type WrittenLimit,
  type WrittenRules,
} from './written-rules.js';

/** Rules of all domains, and what they put in force. */
export interface CompiledRules extends DescriptorRules {
  find(domain: string, entries: readonly DescriptorEntry[]): CompiledRule | null;
  readonly domains: ReadonlyMap<string, RuleLevels<CompiledRule>>;
  /** In the order of the files. */
  readonly all: readonly CompiledRule[];
  /** By the name of the group, or the pattern of the template. */
  readonly byBucket: ReadonlyMap<string, CompiledRule>;
  readonly groups: readonly GroupConfig[];
  readonly templates: readonly KeyTemplate[];
}

export interface CompiledRule extends DescriptorRule {
  readonly place: RulePlace;
  readonly domain: string;
  /** Keys and written values of its levels. */
  readonly descriptor: string;
  readonly becomes: 'group' | 'template' | 'unlimited';
  /** Name of the group, or pattern of the template; '' = unlimited. */
  readonly bucket: string;
  /** null = unlimited. */
  readonly rate: RuleRate | null;
}

/** Makes rules of what is written; with mistakes the result is not to be used. */
export function compileRules(written: readonly WrittenRules[], findings: RuleFindings): CompiledRules {
  const compiler = new RuleCompiler(findings);
  for (const each of written) compiler.add(each);
  return compiler.finish();
}

class RuleCompiler {
  readonly #findings: RuleFindings;
  readonly #settings = new RuleSettings();
  readonly #domains = new Map<string, Map<string, KeyRules<CompiledRule>>>();
  /** Places of composite keys, by level of a domain: `key_value` is one name with ratelimit. */
  readonly #places = new WeakMap<object, Map<string, RulePlace>>();
  readonly #all: CompiledRule[] = [];
  readonly #byBucket = new Map<string, CompiledRule>();
  readonly #groups: GroupConfig[] = [];
  readonly #templates: KeyTemplate[] = [];

  constructor(findings: RuleFindings) {
    this.#findings = findings;
  }

  add({ place, domain, descriptors }: WrittenRules): void {
    if (domain === '') {
      const finding = { problem: 'has no domain', allowed: 'a text that Envoy sends as domain' };
      this.#findings.add(place, { ...finding, remedy: 'Write `domain: …` as in the filter of Envoy.' });
    }
    const levels = this.#domains.get(domain) ?? new Map<string, KeyRules<CompiledRule>>();
    this.#domains.set(domain, levels);
    this.#level(levels, descriptors, { domain, above: [] });
  }

  finish(): CompiledRules {
    this.#checkReplaces();
    const domains = this.#domains;
    return {
      domains,
      all: this.#all,
      byBucket: this.#byBucket,
      groups: this.#groups,
      templates: this.#templates,
      hasDomain: (domain) => domains.has(domain),
      find: (domain, entries) => {
        const levels = domains.get(domain);
        return levels === undefined ? null : findRule(levels, entries);
      },
    };
  }

  #level(levels: Map<string, KeyRules<CompiledRule>>, descriptors: readonly WrittenDescriptor[], path: Path): void {
    for (const written of descriptors) {
      if (!this.#isNew(levels, written)) continue;
      const { key, value } = written;
      const rules = levels.get(key) ?? new KeyRules<CompiledRule>();
      levels.set(key, rules);
      const isWildcard = value.includes('*');
      const isPerValue = value === '' || (isWildcard && !written.sharesThreshold);
      const here = { domain: path.domain, above: [...path.above, { key, value, isPerValue }] };
      const below = new Map<string, KeyRules<CompiledRule>>();
      const node = { rule: this.#rule(written, here), below };
      if (value === '') rules.any = node;
      else if (isWildcard) this.#addWildcard(rules, written, node);
      else rules.values.set(value, node);
      this.#level(below, written.descriptors, here);
    }
  }

  /** Tells of a missing key, a second rule, and what ratelimit refuses. */
  #isNew(levels: object, { key, value, place, sharesThreshold }: WrittenDescriptor): boolean {
    if (key === '') {
      const remedy = 'Write `key: …`, as the action of Envoy names it.';
      this.#findings.add(place, { problem: 'has no key', allowed: 'a text that is not empty', remedy });
      return false;
    }
    const places = this.#places.get(levels) ?? new Map<string, RulePlace>();
    this.#places.set(levels, places);
    const composite = value === '' ? key : `${key}_${value}`;
    const before = places.get(composite);
    if (before !== undefined) {
      const problem = `is the second descriptor ${show(composite)} of this level, after ${shownPlace(before, place)}`;
      this.#findings.add(place, {
        problem,
        allowed: 'each key and value once',
        remedy: 'Remove or join one of the two.',
      });
      return false;
    }
    places.set(composite, place);
    if (key.includes('*'))
      this.#findings.note(place, 'has a * in its key, which stands for itself: only values have wildcards');
    if (sharesThreshold && !value.includes('*')) {
      const problem = 'has share_threshold without a wildcard';
      const remedy = 'Remove it: a value as it is written has one limit anyway.';
      this.#findings.add(place, { problem, allowed: 'share_threshold beside a value with *', remedy });
    }
    return true;
  }

  #addWildcard(rules: KeyRules<CompiledRule>, { value, place }: WrittenDescriptor, node: RuleNode<CompiledRule>): void {
    const before = rules.wildcards.coverOf(value);
    if (before !== null) {
      const note = `shares values with ${show(before)}, which stands before it and has them`;
      this.#findings.note(place, note);
    }
    rules.wildcards.add(value, node);
  }

  #rule(written: WrittenDescriptor, { domain, above }: Path): CompiledRule | null {
    const { limit, place, isQuota, metadata } = written;
    if (limit === null) return null;
    const rate = this.#rateOf(limit, written.isShadow);
    if (rate === null && !limit.isUnlimited) return null;
    const { label, replaces } = limit;
    const { text, isPattern, bucketOf } = ruleName(domain, above);
    const becomes = rate === null ? 'unlimited' : isPattern ? 'template' : 'group';
    const descriptor = above.map(({ key, value }) => (value === '' ? key : `${key}=${value}`)).join(', ');
    const rule: CompiledRule = {
      place,
      at: place.line === null ? `${place.file} ${place.path}` : `${place.file}:${place.line}`,
      domain,
      descriptor,
      name: `${domain}: ${descriptor}`,
      becomes,
      bucket: rate === null ? '' : text,
      rate,
      bucketOf: (_, entries) => bucketOf(entries),
      isUnlimited: limit.isUnlimited,
      isQuota,
      label,
      replaces,
      metadata,
    };
    this.#all.push(rule);
    if (rate !== null) {
      this.#byBucket.set(text, rule);
      this.#putInForce(text, isPattern, rate);
    }
    return rule;
  }

  #putInForce(text: string, isPattern: boolean, rate: RuleRate): void {
    const group = this.#settings.groupOf(text, rate);
    if (isPattern) this.#templates.push({ pattern: text, group, overrides: [], allowLimits: null });
    else this.#groups.push(group);
  }

  /** Returns the rate; null = unlimited, or a mistake. */
  #rateOf(limit: WrittenLimit, isShadow: boolean): RuleRate | null {
    const { place, unit: text, requestsPerUnit, isUnlimited } = limit;
    const unit = unitOf(text);
    if (isUnlimited) {
      if (unit !== null)
        this.#refuse(limit, `has unit ${show(text)} beside unlimited`, 'one of the two', 'Remove one.');
      return null;
    }
    if (unit === null) {
      const allowed = `one of ${TIME_UNITS.join(', ')}`;
      const remedy = didYouMean(text, TIME_UNITS) || `Write ${allowed}.`;
      this.#refuse(limit, text === '' ? 'has no unit' : `has unit ${show(text)}`, allowed, remedy);
    }
    if (requestsPerUnit === null) {
      this.#refuse(limit, 'has no requests_per_unit', 'a whole number', 'Write it; 0 blocks.');
    }
    for (const label of limit.replaces) {
      if (label !== '' && label !== limit.label) continue;
      const problem = label === '' ? 'replaces a rule without a name' : `replaces itself, ${show(label)}`;
      this.#findings.add(place, { problem, allowed: 'names of other rules', remedy: 'Correct or remove the name.' });
    }
    return unit === null || requestsPerUnit === null ? null : { requestsPerUnit, unit, isShadow };
  }

  #refuse({ place }: WrittenLimit, problem: string, allowed: string, remedy: string): void {
    this.#findings.add(place, { problem, allowed, remedy } satisfies FoundMistake);
  }

  /** Notes names that no rule of the domain has. */
  #checkReplaces(): void {
    const labels = new Map<string, Set<string>>();
    for (const { domain, label } of this.#all) labels.set(domain, (labels.get(domain) ?? new Set()).add(label));
    for (const { place, domain, replaces } of this.#all) {
      for (const label of replaces) {
        if (label === '' || labels.get(domain)?.has(label)) continue;
        this.#findings.note(place, `replaces ${show(label)}, and no rule of the domain has that name`);
      }
    }
  }
}

interface Path {
  readonly domain: string;
  readonly above: readonly RuleLevel[];
}

/** Says what a rule becomes, for people. *Worked:* `5/d, burst 5, shadow`. */
export function shownLimit({ rate, isQuota }: Pick<CompiledRule, 'rate' | 'isQuota'>): string {
  if (rate === null) return 'unlimited';
  const burst = rate.requestsPerUnit === 0 ? [] : [`burst ${rate.requestsPerUnit}`];
  const modes = [...(rate.isShadow ? ['shadow'] : []), ...(isQuota ? ['quota'] : [])];
  return [shownRuleRate(rate), ...burst, ...modes].join(', ');
}

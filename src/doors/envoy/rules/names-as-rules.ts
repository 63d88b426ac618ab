import type { Clock } from '../../../base/ports/clock.js';
import type { DescriptorEntry, DescriptorRule, DescriptorRules } from './descriptor-rules.js';
import { alphabetWith, encodedText } from './encoded-text.js';

/** Tells which names are limited. */
export interface LimitedNames {
  /** Returns the limiting group, or pattern of the template; null = none. */
  ruleOf(name: string): string | null;
  /** Tests for names that begin so; looks through all groups and templates. */
  hasPrefix(prefix: string): boolean;
}

/** Limits descriptors whose names are groups or keys: the rules where none are given. */
export class NamesAsRules implements DescriptorRules {
  readonly #names: LimitedNames;
  readonly #clock: Clock;
  /** Group or pattern → its rule. */
  readonly #rules = new Map<string, DescriptorRule>();
  /** Domain → whether a name begins with it, as of `#lookedMs`. */
  readonly #domains = new Map<string, boolean>();
  #lookedMs = -Infinity;
  /** Descriptor that was named last: who finds its rule asks for its bucket next. */
  readonly #last = { domain: '', entries: NONE, name: '' };

  constructor(names: LimitedNames, clock: Clock) {
    this.#names = names;
    this.#clock = clock;
  }

  /** Tests for a group or template of the domain; looks for them once a second. */
  hasDomain(domain: string): boolean {
    const nowMs = this.#clock();
    if (nowMs - this.#lookedMs >= LOOKED_EVERY_MS || this.#domains.size >= DOMAINS_MAX) {
      this.#domains.clear();
      this.#lookedMs = nowMs;
    }
    const known = this.#domains.get(domain) ?? this.#names.hasPrefix(`${encodedText(domain, IN_KEY)}/`);
    this.#domains.set(domain, known);
    return known;
  }

  find(domain: string, entries: readonly DescriptorEntry[]): DescriptorRule | null {
    const name = this.#names.ruleOf(this.#nameOf(domain, entries));
    if (name === null) return null;
    const known = this.#rules.get(name);
    if (known !== undefined) return known;
    // Templates of run time come and go.
    if (this.#rules.size >= RULES_MAX) this.#rules.clear();
    const rule = { ...NAMED, name, bucketOf: this.#nameOf };
    this.#rules.set(name, rule);
    return rule;
  }

  readonly #nameOf = (domain: string, entries: readonly DescriptorEntry[]): string => {
    const last = this.#last;
    if (entries !== last.entries || domain !== last.domain)
      Object.assign(last, { domain, entries, name: descriptorName(domain, entries) });
    return last.name;
  };
}

const NONE: readonly DescriptorEntry[] = [];
const NAMED = { at: '', metadata: null, isUnlimited: false, isQuota: false, label: '', replaces: [] };
const LOOKED_EVERY_MS = 1000;
const DOMAINS_MAX = 100;
const RULES_MAX = 10_000;

/**
 * Names a descriptor in the alphabet of groups and patterns. *Why encoded:* no value can pass for the end of its entry,
 * so no client gets into the bucket of another descriptor.
 *
 * *Worked:* domain edge, (user, alice), (path, /login) → `edge/user:alice/path:~2Flogin`.
 */
export function descriptorName(domain: string, entries: readonly DescriptorEntry[]): string {
  let name = encodedText(domain, IN_KEY);
  for (const { key, value } of entries) {
    name += `/${encodedText(key, IN_KEY)}:${encodedText(value, IN_VALUE)}`;
  }
  return name;
}

/** Letters of a key, and of a value: with a colon. */
const IN_KEY = alphabetWith('._@+-');
const IN_VALUE = alphabetWith('._:@+-');

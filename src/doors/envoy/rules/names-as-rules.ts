import type { DescriptorEntry, DescriptorRule, DescriptorRules } from './descriptor-rules.js';
import { alphabetWith, encodedText } from './encoded-text.js';

/** Limits descriptors whose names are groups or keys: the rules where none are given. */
export class NamesAsRules implements DescriptorRules {
  readonly #isLimited: (name: string) => boolean;

  constructor(isLimited: (name: string) => boolean) {
    this.#isLimited = isLimited;
  }

  /** Every domain is known: any may have names. */
  hasDomain(): boolean {
    return true;
  }

  find(domain: string, entries: readonly DescriptorEntry[]): DescriptorRule | null {
    const name = descriptorName(domain, entries);
    return this.#isLimited(name) ? { ...NAMED, name, bucketOf: descriptorName } : null;
  }
}

const NAMED = { isUnlimited: false, isQuota: false, label: '', replaces: [] };

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

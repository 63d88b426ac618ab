import type { DescriptorEntry } from './descriptor-rules.js';
import { Wildcards } from './wildcards.js';

/** One place of the tree: its limit, and what is below. */
export interface RuleNode<Rule> {
  /** null = nothing limits them. */
  readonly rule: Rule | null;
  readonly below: RuleLevels<Rule>;
}

/** Key → what is written for its values. */
export type RuleLevels<Rule> = ReadonlyMap<string, KeyRules<Rule>>;

/** The rules of one key at one place, most specific first. */
export class KeyRules<Rule> {
  readonly values = new Map<string, RuleNode<Rule>>();
  readonly wildcards = new Wildcards<RuleNode<Rule>>();
  /** The rule without a value. */
  any: RuleNode<Rule> | null = null;

  /** Finds the value as written; else a wildcard; else the rule without a value. */
  find(value: string): RuleNode<Rule> | null {
    return this.values.get(value) ?? this.wildcards.find(value) ?? this.any;
  }
}

/**
 * Finds the rule of a descriptor as ratelimit documents it. Each entry goes one level down, and never back: the rule
 * has as many levels as the descriptor.
 */
export function findRule<Rule>(levels: RuleLevels<Rule>, entries: readonly DescriptorEntry[]): Rule | null {
  let below = levels;
  let rule: Rule | null = null;
  for (const { key, value } of entries) {
    const node = below.get(key)?.find(value) ?? null;
    if (node === null) return null;
    below = node.below;
    rule = node.rule;
  }
  return rule;
}

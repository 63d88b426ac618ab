import type { RuleOrigin } from '../groups/yaml/rule-origins.js';
import type { StatusParts } from './status-parts.js';

/** Finds the rule behind a group, or behind a key's template; null = none. */
export function ruleOf({ keys, yaml }: Pick<StatusParts, 'keys' | 'yaml'>, name: string): RuleOrigin | null {
  const own = yaml.rules.of(name);
  if (own !== null) return own;
  const template = keys?.kindOf(name)?.template ?? null;
  return template === null ? null : yaml.rules.of(template);
}

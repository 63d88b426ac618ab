import type { NodeParts } from '../../node/loop/node-parts.js';
import type { LimitedNames } from './rules/names-as-rules.js';

/** Finds the groups and templates in force at a node. */
export function limitedNames({ groups, keys, templates }: NodeParts): LimitedNames {
  return {
    ruleOf: (name) => (groups.numbers.has(name) ? name : (keys?.kindOf(name)?.template ?? null)),
    hasPrefix: (prefix) => {
      for (const name of groups.numbers.keys()) if (name.startsWith(prefix)) return true;
      return templates.inForce.some(({ pattern }) => pattern.startsWith(prefix) || pattern.startsWith('{'));
    },
  };
}

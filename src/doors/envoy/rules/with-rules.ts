import { alone, withAll } from '../../../config/read/build-config.js';
import type { ResolvedConfig } from '../../../config/resolved/resolved-config.js';
import { ConfigError } from '../../../config/setting/config-error.js';
import { show } from '../../../config/setting/setting-text.js';
import type { CompiledRule, CompiledRules } from './compile-rules.js';
import { RuleFindings } from './written-rules.js';

/**
 * Adds the groups and templates of rules to a configuration. Throws a ConfigError of RULES_INVALID where they do not
 * fit together. @param source of the rules, for messages
 */
export function withRules(config: ResolvedConfig, rules: CompiledRules, source: string): ResolvedConfig {
  const findings = new RuleFindings();
  const named = new Set([
    ...config.groups.map(({ name }) => name),
    ...config.keys.templates.map((each) => each.pattern),
  ]);
  for (const rule of rules.all) {
    if (named.has(rule.bucket)) addTwice(rule, config.source, findings);
    if (rule.becomes === 'template' && config.topic.kind === 'none') addAlone(rule, findings);
  }
  const count = config.groups.length + rules.groups.length;
  const most = config.limits.maxGroupsPerNode;
  if (count > most) addTooMany(rules.all, { count, most }, findings);
  if (findings.mistakes.length > 0) throw new ConfigError(source, findings.mistakes, 'RULES_INVALID');
  const groups = rules.groups.map((group) => withAll(group, alone(config.topic)));
  const templates = [...config.keys.templates, ...rules.templates];
  return { ...config, groups: [...config.groups, ...groups], keys: { ...config.keys, templates } };
}

function addTwice({ place, bucket }: CompiledRule, source: string, findings: RuleFindings): void {
  const problem = `becomes ${show(bucket)}, which ${source} has, too`;
  findings.add(place, {
    problem,
    allowed: 'one of the two',
    remedy: 'Remove the rule, or the group or pattern there.',
  });
}

function addAlone({ place, bucket }: CompiledRule, findings: RuleFindings): void {
  const problem = `becomes ${show(bucket)}, keys, which need a topic: with kind none nobody shares them`;
  const remedy = 'Give the configuration a topic; on one machine `topic: { kind: embedded, path: ./state }`.';
  findings.add(place, { problem, allowed: 'a topic of another kind', remedy });
}

function addTooMany(all: readonly CompiledRule[], { count, most }: Counted, findings: RuleFindings): void {
  const last = all.findLast(({ becomes }) => becomes === 'group');
  if (last === undefined) return;
  const problem = `is one of ${count} groups`;
  const remedy = 'Leave values out where all have the same limit: one template has any number of keys.';
  findings.add(last.place, { problem, allowed: `at most ${most} groups of a node`, remedy });
}

interface Counted {
  readonly count: number;
  readonly most: number;
}

import { z } from 'zod';
import type { MqttRule } from '../resolved/resolved-config.js';
import type { Findings } from '../setting/findings.js';
import { isGroupKnown, type RuleForm, readRules } from './read-rules.js';
import { capturesIn, isNamePattern, isPlain, isTemplate, isTopicPattern, ruleText } from './rule-patterns.js';

/** Valid rules in order; every mistake is added with its line. A rule with a mistake is left out. */
export function readMqttRules(rules: unknown, groups: ReadonlySet<string>, findings: Findings): MqttRule[] {
  return readRules(rules, FORM, findings).flatMap(({ at, rule }) => {
    const { clientId = null, username = null, topic = null, tenant = null, namespace = null } = rule;
    const { group = null } = rule;
    const captured = MATCHERS.flatMap((key) => capturesIn(rule[key] ?? ''));
    if (tenant !== null) captured.push('tenant');
    if (namespace !== null) captured.push('namespace');
    const needed = group ?? ATTACHED;
    if (!isGroupKnown({ at, group: needed, captured, form: FORM }, groups, findings)) return [];
    return [{ clientId, username, topic, tenant, namespace, group }];
  });
}

/** What attachments need to know at least. */
const ATTACHED = '{tenant}';

const RULE = z.strictObject({
  clientId: ruleText.refine(isNamePattern),
  username: ruleText.refine(isNamePattern),
  topic: ruleText.refine(isTopicPattern),
  tenant: ruleText.refine(isPlain),
  namespace: ruleText.refine(isPlain),
  group: ruleText.refine(isTemplate),
});

export const MQTT_RULE_KEYS: readonly string[] = Object.keys(RULE.shape);

const MATCHERS = ['clientId', 'username', 'topic'] as const;

const FORM: RuleForm<typeof RULE> = {
  path: ['mqtt', 'rules'],
  schema: RULE,
  docs: 'docs/guide/mqtt.md',
  matchers: MATCHERS,
  allowed: {
    clientId:
      'a client id in which * is anything and {tenant}, {namespace} or another {name} is captured, e.g. "{tenant}-*"',
    username:
      'a username in which * is anything and {tenant}, {namespace} or another {name} is captured, e.g. "{tenant}"',
    topic:
      'levels separated by /; + is any level, {tenant} captures one, # at the end is the rest, e.g. "{tenant}/{namespace}/#"',
    tenant: 'a name without { } or *',
    namespace: 'a name without { } or *',
    group: 'the name of a group, or one made of captures, e.g. "{tenant}/{namespace}"',
  },
};

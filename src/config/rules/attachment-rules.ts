import { z } from 'zod';
import type { AttachmentRule } from '../../core/attachments/attachment.js';
import type { Findings } from '../setting/findings.js';
import { isGroupKnown, type RuleForm, readRules } from './read-rules.js';
import { capturesIn, isNamePattern, isTemplate, isTopicPattern, ruleText } from './rule-patterns.js';

/** Valid rules in order; every mistake is added with its line. A rule with a mistake is left out. */
export function readAttachmentRules(rules: unknown, groups: ReadonlySet<string>, findings: Findings): AttachmentRule[] {
  return readRules(rules, FORM, findings).flatMap(({ at, rule }) => {
    const { tenant = null, namespace = null, topic = null, client = null, group = null } = rule;
    const exempt = rule.exempt ?? false;
    const headers = Object.fromEntries(
      Object.entries(rule.headers ?? {}).map(([name, pattern]) => [name.toLowerCase(), pattern]),
    );
    if ((group !== null) === exempt) {
      const problem = exempt ? 'names a group and is exempt: only one of the two can hold' : 'says neither what group';
      const said = exempt ? problem : `${problem} nor exempt: true`;
      const remedy = 'Name a group, or write exempt: true for traffic that nothing limits.';
      findings.add(at, { problem: said, allowed: 'group, or exempt: true', remedy });
      return [];
    }
    const captured = ['tenant', 'namespace'].concat(
      [tenant, namespace, topic, client, ...Object.values(headers)].flatMap((pattern) => capturesIn(pattern ?? '')),
    );
    if (group !== null && !isGroupKnown({ at, group, captured, form: FORM }, groups, findings)) return [];
    return [{ tenant, namespace, topic, client, headers, group, exempt, andBroader: rule.andBroader ?? false }];
  });
}

const RULE = z.strictObject({
  tenant: ruleText.refine(isNamePattern),
  namespace: ruleText.refine(isNamePattern),
  topic: ruleText.refine(isTopicPattern),
  client: ruleText.refine(isNamePattern),
  headers: z.record(z.string().min(1).max(256), z.string().min(1).max(256).refine(isNamePattern)).nullish(),
  group: ruleText.refine(isTemplate),
  exempt: z.boolean().nullish(),
  andBroader: z.boolean().nullish(),
});

export const ATTACHMENT_RULE_KEYS: readonly string[] = Object.keys(RULE.shape);

const NAME = 'in which * is anything and {name} is captured';

const FORM: RuleForm<typeof RULE> = {
  path: ['attachments', 'rules'],
  schema: RULE,
  docs: 'docs/operate/administration.md',
  matchers: ['tenant', 'namespace', 'topic', 'client', 'headers'],
  allowed: {
    tenant: `a tenant ${NAME}, e.g. "trial-*"`,
    namespace: `a namespace ${NAME}, e.g. "*-archive"`,
    topic: 'levels separated by /; + is any level, {name} captures one, # at the end is the rest, e.g. "audit/#"',
    client: `a client identity ${NAME}, e.g. "replicator-*"`,
    headers: `a mapping of header to a value ${NAME}, e.g. { x-tier: free }`,
    group: 'the name of a group, or one made of {tenant}, {namespace} and captures, e.g. "{tenant}-premium"',
    exempt: 'true or false',
    andBroader: 'true or false',
  },
};

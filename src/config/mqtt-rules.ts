import { z } from 'zod';
import type { ConfigPath, Findings } from './findings.js';
import { didYouMean } from './nearest-name.js';
import { show } from './setting-text.js';

/** Which messages belong to which group; null = not asked for, or not known. */
export interface MqttRule {
  readonly clientId: string | null;
  readonly username: string | null;
  readonly topic: string | null;
  readonly tenant: string | null;
  readonly namespace: string | null;
  readonly group: string;
}

/** Valid rules in order; every mistake is added with its line. A rule with a mistake is left out. */
export function readMqttRules(rules: unknown, groups: ReadonlySet<string>, findings: Findings): MqttRule[] {
  if (rules === undefined || rules === null) return [];
  if (!Array.isArray(rules)) {
    const problem = `must be a list of rules, got ${show(rules)}`;
    findings.add(RULES, { problem, allowed: 'a list of rules', remedy: 'Begin each rule with a dash.' });
    return [];
  }
  const catchAll = rules.findIndex((rule) => isCatchAll(rule));
  return rules.flatMap((rule: unknown, index) => {
    const path = [...RULES, index];
    if (catchAll !== -1 && index > catchAll) {
      const problem = `is never reached: rule ${catchAll} matches everything`;
      findings.add(path, { problem, allowed: 'a rule before that one', remedy: 'Move it up, or remove it.' });
    }
    const read = readRule(rule, path, findings);
    return read !== null && isGroupKnown(read, path, groups, findings) ? [read] : [];
  });
}

const RULES: ConfigPath = ['mqtt', 'rules'];

const text = z.string().min(1).max(256).nullish();

const RULE = z.strictObject({
  clientId: text.refine(isNamePattern),
  username: text.refine(isNamePattern),
  topic: text.refine(isTopicPattern),
  tenant: text.refine(isPlain),
  namespace: text.refine(isPlain),
  group: text.refine(isTemplate),
});

export const MQTT_RULE_KEYS: readonly string[] = Object.keys(RULE.shape);
const KEYS = MQTT_RULE_KEYS;

const ALLOWED: Readonly<Record<string, string>> = {
  clientId:
    'a client id in which * is anything and {tenant}, {namespace} or another {name} is captured, e.g. "{tenant}-*"',
  username:
    'a username in which * is anything and {tenant}, {namespace} or another {name} is captured, e.g. "{tenant}"',
  topic:
    'levels separated by /; + is any level, {tenant} captures one, # at the end is the rest, e.g. "{tenant}/{namespace}/#"',
  tenant: 'a name without { } or *',
  namespace: 'a name without { } or *',
  group: 'the name of a group, or one made of captures, e.g. "{tenant}/{namespace}"',
};

const MATCHERS = ['clientId', 'username', 'topic'] as const;

function isCatchAll(rule: unknown): boolean {
  const parsed = RULE.safeParse(rule);
  return parsed.success && MATCHERS.every((key) => (parsed.data[key] ?? null) === null);
}

function readRule(rule: unknown, path: ConfigPath, findings: Findings): MqttRule | null {
  const parsed = RULE.safeParse(rule);
  if (!parsed.success) {
    for (const issue of parsed.error.issues) addIssue(issue, rule, path, findings);
    return null;
  }
  const { clientId = null, username = null, topic = null, tenant = null, namespace = null, group = null } = parsed.data;
  return { clientId, username, topic, tenant, namespace, group: group ?? DEFAULT_GROUP };
}

const DEFAULT_GROUP = '{tenant}/{namespace}';

function addIssue(issue: z.core.$ZodIssue, rule: unknown, path: ConfigPath, findings: Findings): void {
  const at = [...path, ...(issue.path as (string | number)[])];
  if (issue.code === 'unrecognized_keys') {
    for (const key of issue.keys) {
      const allowed = KEYS.join(', ');
      const remedy = didYouMean(key, KEYS) || `Known keys here: ${allowed}.`;
      findings.add([...at, key], { problem: 'is not a known key', allowed, remedy }, { part: 'key' });
    }
    return;
  }
  const key = issue.path[0] as string | undefined;
  const allowed = (key === undefined ? undefined : ALLOWED[key]) ?? `a mapping with the keys ${KEYS.join(', ')}`;
  const got = key === undefined ? rule : (rule as Readonly<Record<string, unknown>>)[key];
  findings.add(at, {
    problem: `must be ${allowed}, got ${show(got)}`,
    allowed,
    remedy: 'See docs/mqtt.md for examples.',
  });
}

/** Captures that the group needs must be there, and a group without captures must be configured. */
function isGroupKnown(rule: MqttRule, path: ConfigPath, groups: ReadonlySet<string>, findings: Findings): boolean {
  const needed = capturesIn(rule.group);
  const there = MATCHERS.flatMap((key) => capturesIn(rule[key] ?? ''));
  for (const key of ['tenant', 'namespace'] as const) if (rule[key] !== null) there.push(key);
  const missing = needed.filter((name) => !there.includes(name));
  const at = [...path, 'group'];
  if (missing.length > 0) {
    const problem = `needs {${missing.join('} and {')}}, which nothing in the rule says`;
    const remedy = `Capture {${missing[0]}} in clientId, username or topic, or set it.`;
    findings.add(at, { problem, allowed: ALLOWED.group as string, remedy });
    return false;
  }
  if (needed.length > 0 || groups.has(rule.group) || groups.size === 0) return true;
  const remedy = didYouMean(rule.group, groups) || 'Add the group below groups:.';
  const problem = `must name a configured group, got ${show(rule.group)}`;
  findings.add(at, { problem, allowed: 'a key of groups', remedy });
  return false;
}

function capturesIn(pattern: string): string[] {
  return Array.from(pattern.matchAll(/\{(\w+)\}/g), ([, name]) => name as string);
}

/** At most three wildcards, and something between two of them: matching stays quick whatever a client calls itself. */
function isNamePattern(pattern: string | null | undefined): boolean {
  const parts = (pattern ?? '').split(/(?:\{[a-zA-Z]\w*\}|\*)/);
  const distinct = new Set(capturesIn(pattern ?? '')).size === capturesIn(pattern ?? '').length;
  return distinct && parts.length <= 4 && parts.slice(1, -1).every((part) => part !== '') && parts.every(isPlain);
}

function isTopicPattern(pattern: string | null | undefined): boolean {
  const levels = (pattern ?? '').split('/');
  return levels.every((level, at) => {
    if (level === '#') return at === levels.length - 1;
    return level === '+' || /^\{[a-zA-Z]\w*\}$/.test(level) || /^[^{}+#*]*$/.test(level);
  });
}

function isPlain(name: string | null | undefined): boolean {
  return /^[^{}*]*$/.test(name ?? '');
}

function isTemplate(template: string | null | undefined): boolean {
  return isPlain((template ?? '').replaceAll(/\{[a-zA-Z]\w*\}/g, ''));
}

import type { z } from 'zod';
import { didYouMean } from '../../input/nearest-name.js';
import type { ConfigPath, Findings } from '../setting/findings.js';
import { show } from '../setting/setting-text.js';
import { addUnknownKeys } from '../setting/unknown-keys.js';
import { capturesIn } from './rule-patterns.js';

/** What a list of rules looks like: of MQTT messages, or of attachments. */
export interface RuleForm<Schema extends z.ZodObject> {
  readonly path: ConfigPath;
  readonly schema: Schema;
  /** Key → what may stand there, in words. */
  readonly allowed: Readonly<Record<string, string>>;
  /** Page with examples. */
  readonly docs: string;
  /** Keys that a rule asks for; one without any matches everything. */
  readonly matchers: readonly string[];
}

export interface ReadRule<Schema extends z.ZodObject> {
  readonly at: ConfigPath;
  readonly rule: z.infer<Schema>;
}

/** Rules of the right shape, in order; every mistake is added with its line. A rule with a mistake is left out. */
export function readRules<Schema extends z.ZodObject>(
  rules: unknown,
  form: RuleForm<Schema>,
  findings: Findings,
): ReadRule<Schema>[] {
  if (rules === undefined || rules === null) return [];
  if (!Array.isArray(rules)) {
    const problem = `must be a list of rules, got ${show(rules)}`;
    findings.add(form.path, { problem, allowed: 'a list of rules', remedy: 'Begin each rule with a dash.' });
    return [];
  }
  const catchAll = rules.findIndex((rule) => isCatchAll(rule, form));
  return rules.flatMap((written: unknown, index) => {
    const at = [...form.path, index];
    if (catchAll !== -1 && index > catchAll) {
      const problem = `is never reached: rule ${catchAll} matches everything`;
      findings.add(at, { problem, allowed: 'a rule before that one', remedy: 'Move it up, or remove it.' });
    }
    const parsed = form.schema.safeParse(written);
    if (parsed.success) return [{ at, rule: parsed.data }];
    for (const issue of parsed.error.issues) addIssue(issue, written, { at, form }, findings);
    return [];
  });
}

interface GroupTemplate {
  readonly at: ConfigPath;
  readonly group: string;
  /** Names that something in the rule says. */
  readonly captured: readonly string[];
  readonly form: RuleForm<z.ZodObject>;
}

/** Captures that the group needs must be there, and a group without captures must be configured. */
export function isGroupKnown(template: GroupTemplate, groups: ReadonlySet<string>, findings: Findings): boolean {
  const { group, captured, form } = template;
  const needed = capturesIn(group);
  const missing = needed.filter((name) => !captured.includes(name));
  const at = [...template.at, 'group'];
  if (missing.length > 0) {
    const problem = `needs {${missing.join('} and {')}}, which nothing in the rule says`;
    const remedy = `Capture {${missing[0]}} in ${form.matchers.slice(0, -1).join(', ')} or ${form.matchers.at(-1)}, or set it.`;
    findings.add(at, { problem, allowed: form.allowed.group as string, remedy });
    return false;
  }
  if (needed.length > 0 || groups.has(group) || groups.size === 0) return true;
  const remedy = didYouMean(group, groups) || 'Add the group below groups:.';
  findings.add(at, {
    problem: `must name a configured group, got ${show(group)}`,
    allowed: 'a key of groups',
    remedy,
  });
  return false;
}

function isCatchAll(rule: unknown, { schema, matchers }: RuleForm<z.ZodObject>): boolean {
  const parsed = schema.safeParse(rule);
  return parsed.success && matchers.every((key) => (parsed.data[key] ?? null) === null);
}

function addIssue(
  issue: z.core.$ZodIssue,
  rule: unknown,
  { at: path, form }: { readonly at: ConfigPath; readonly form: RuleForm<z.ZodObject> },
  findings: Findings,
): void {
  const keys = Object.keys(form.schema.shape);
  const at = [...path, ...(issue.path as (string | number)[])];
  if (issue.code === 'unrecognized_keys') {
    addUnknownKeys(issue.keys, keys, at, findings);
    return;
  }
  const key = issue.path[0] as string | undefined;
  const allowed = (key === undefined ? undefined : form.allowed[key]) ?? `a mapping with the keys ${keys.join(', ')}`;
  const got = key === undefined ? rule : (rule as Readonly<Record<string, unknown>>)[key];
  findings.add(at, {
    problem: `must be ${allowed}, got ${show(got)}`,
    allowed,
    remedy: `See ${form.docs} for examples.`,
  });
}

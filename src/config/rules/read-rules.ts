import type { z } from 'zod';
import type { AttachmentRule } from '../../core/beside/attachments/attachment.js';
import { ATTACHMENT_MATCHERS, ATTACHMENT_RULE } from '../schema/attachments.js';
import { MQTT_MATCHERS, MQTT_RULE, type MqttRule } from '../schema/mqtt-rules.js';
import { capturesIn } from '../schema/rule-patterns.js';
import type { ConfigPath, Findings } from '../setting/findings.js';
import { mustBe, noSuchGroup } from '../setting/setting-text.js';
import { readEntry } from './read-entry.js';

/** Valid rules in order; every mistake is added with its line. A rule with a mistake is left out. */
export function readMqttRules(written: unknown, groups: NamesInUse, findings: Findings): MqttRule[] {
  return readRules(written, MQTT, groups, findings);
}

export function readAttachmentRules(written: unknown, groups: NamesInUse, findings: Findings): AttachmentRule[] {
  return readRules(written, OF_ATTACHMENTS, groups, findings);
}

/** Names of groups, which are listed, and of keys of templates. */
export interface NamesInUse extends Iterable<string> {
  has(name: string): boolean;
}

interface RuleForm<Rule> {
  readonly path: ConfigPath;
  readonly schema: z.ZodType<Rule>;
  readonly docs: string;
  /** Keys by which a rule chooses; a rule without any of them matches everything. */
  readonly matchers: readonly (keyof Rule)[];
}

const MQTT: RuleForm<MqttRule> = {
  path: ['mqtt', 'rules'],
  schema: MQTT_RULE,
  docs: 'docs/guide/mqtt.md',
  matchers: MQTT_MATCHERS,
};

const OF_ATTACHMENTS: RuleForm<AttachmentRule> = {
  path: ['attachments', 'rules'],
  schema: ATTACHMENT_RULE,
  docs: 'docs/operate/administration.md',
  matchers: ATTACHMENT_MATCHERS,
};

function readRules<Rule extends { readonly group: string | null }>(
  written: unknown,
  form: RuleForm<Rule>,
  groups: NamesInUse,
  findings: Findings,
): Rule[] {
  if (written === undefined || written === null) return [];
  if (!Array.isArray(written)) {
    findings.add(form.path, mustBe('a list of rules', written, 'Begin each rule with a dash.'));
    return [];
  }
  let catchAll = -1;
  return written.flatMap((one: unknown, index): Rule[] => {
    const at = [...form.path, index];
    if (catchAll !== -1) {
      const problem = `is never reached: rule ${catchAll} matches everything`;
      findings.add(at, { problem, allowed: 'a rule before that one', remedy: 'Move it up, or remove it.' });
    }
    const rule = readEntry(form.schema, one, at, findings, form);
    if (rule === undefined) return [];
    if (catchAll === -1 && form.matchers.every((key) => isUnasked(rule[key]))) catchAll = index;
    const { group } = rule;
    // A group with captures is known only with the work.
    if (group === null || capturesIn(group).length > 0 || groups.has(group)) return [rule];
    findings.add([...at, 'group'], noSuchGroup(group, groups, 'Add the group below groups:.'));
    return [];
  });
}

function isUnasked(pattern: unknown): boolean {
  return pattern === null || (typeof pattern === 'object' && Object.keys(pattern).length === 0);
}

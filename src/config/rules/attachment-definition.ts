import { isMapping } from '../../base/input/mapping.js';
import { type Attachment, type AttachmentsConfig, scopeKindOf } from '../../core/beside/attachments/attachment.js';
import { Attachments } from '../../core/beside/attachments/attachments.js';
import { ATTACHMENT, SCOPE_PATH } from '../schema/attachments.js';
import { type ConfigPath, Findings } from '../setting/findings.js';
import { mustBe, noSuchGroup } from '../setting/setting-text.js';
import { type EntryTexts, readEntry } from './read-entry.js';
import { type NamesInUse, readAttachmentRules } from './read-rules.js';

/** The section `attachments` of YAML; every mistake is added with its line. */
export function readAttachments(written: unknown, groups: NamesInUse, findings: Findings): AttachmentsConfig {
  const { scopes, rules } = isMapping(written) ? written : { scopes: null, rules: null };
  const config = { scopes: readScopes(scopes, findings), rules: readAttachmentRules(rules, groups, findings) };
  const attachments = new Attachments(config, (group) => groups.has(group));
  for (const path of attachments.dangling) addDangling(path, attachments, groups, findings);
  return config;
}

/** Reads an attachment as YAML below `attachments.scopes.<path>`: checked as there, but for what must exist. */
export function examineAttachment(path: string, written: unknown, source: string) {
  const findings = new Findings(source);
  const attachment = readScopes({ [path]: written }, findings)[path] ?? null;
  return { attachment: findings.mistakes.length > 0 ? null : attachment, mistakes: findings.mistakes };
}

/** The shortest way to write it in YAML. */
export function attachmentAsWritten(attachment: Attachment): Readonly<Record<string, unknown>> {
  const { group, sameAs, exempt, andBroader } = attachment;
  const what = exempt ? { exempt } : group === null ? { sameAs } : { group };
  return andBroader ? { ...what, andBroader } : what;
}

const SCOPES: ConfigPath = ['attachments', 'scopes'];

function readScopes(scopes: unknown, findings: Findings): Record<string, Attachment> {
  const read: Record<string, Attachment> = Object.create(null);
  if (scopes === undefined || scopes === null) return read;
  if (!isMapping(scopes)) {
    findings.add(SCOPES, mustBe('a mapping of scope to group', scopes, 'Write it like `acme/orders: gold`.'));
    return read;
  }
  for (const [path, written] of Object.entries(scopes)) {
    const at = [...SCOPES, path];
    if (!SCOPE_PATH.matches.test(path)) {
      const problem = `is no scope: it must be ${SCOPE_PATH.text}`;
      findings.add(at, { problem, allowed: SCOPE_PATH.text, remedy: 'Correct the path.' }, { part: 'key' });
      continue;
    }
    const attachment = readAttachment(written, at, findings);
    if (attachment !== null) read[path] = attachment;
  }
  return read;
}

function readAttachment(written: unknown, at: ConfigPath, findings: Findings): Attachment | null {
  if (typeof written !== 'string') return readEntry(ATTACHMENT, written, at, findings, TEXTS) ?? null;
  // The name stands alone in the text: a mistake of `group` is told where the name is.
  const found = new Findings('');
  const attachment = readEntry(ATTACHMENT, { group: written }, [], found, TEXTS) ?? null;
  for (const { problem, allowed, remedy } of found.mistakes) findings.add(at, { problem, allowed, remedy });
  return attachment;
}

const TEXTS: EntryTexts = { docs: 'docs/operate/administration.md' };

function addDangling(path: string, attachments: Attachments, groups: NamesInUse, findings: Findings): void {
  const attached = attachments.at(path);
  if (attached === null) return;
  const followed = attachments.follow(attached.attachment, path);
  const at = [...SCOPES, path];
  if (followed.end === 'cyclic') {
    const problem = `leads in a circle: ${[path, ...followed.via].join(' → ')}`;
    findings.add(at, { problem, allowed: 'a chain that ends at a group', remedy: 'Name a group at one of them.' });
  } else if (followed.end === 'dangling') {
    const last = followed.via.at(-1) as string;
    const problem = `leads to ${scopeKindOf(last)} ${last}, which is attached to nothing`;
    const remedy = `Attach ${last}, or name a group.`;
    findings.add(at, { problem, allowed: 'a scope below attachments.scopes', remedy });
  } else if (attached.attachment.group !== null) {
    const remedy = 'Add the group below groups:, or attach the scope at run time.';
    findings.add(at, noSuchGroup(attached.attachment.group, groups, remedy));
  }
}

import { QuotameshError } from '../../../base/errors/quotamesh-error.js';
import { attachmentAsWritten, examineAttachment } from '../../../config/rules/attachment-definition.js';
import { SCOPE_PATH } from '../../../config/schema/attachments.js';
import { mistakesText } from '../../../config/setting/config-error.js';
import type { Attachment } from '../../../core/beside/attachments/attachment.js';
import type { ScopeEntry } from '../../../core/beside/attachments/attachments.js';
import { NEVER } from '../../../core/beside/registry/group-history.js';
import { attachmentName, type GroupDefinition } from '../../../core/beside/registry/registry-record.js';
import { isFull } from '../apply-attachment.js';
import { type Attaching, type Owner, ownerOf, rejectHiding, rejectUnlessOwned, withOwner } from './attachment-owner.js';
import { type ChangeParts, type Expected, registryOf } from './change-parts.js';

/** Tenant, namespace or topic with its attachment. */
export interface AttachedTo {
  readonly scope: string;
  readonly origin: 'yaml' | 'run-time';
  /** Revision; 0 = never changed at run time. */
  readonly revision: number;
  /** Attachment as below attachments.scopes in YAML. */
  readonly attachment: Readonly<Record<string, unknown>>;
  /** Tenants of the caller that attached it; null = the whole cluster's. */
  readonly attachedBy: Owner;
}

export function listAttachments(parts: ChangeParts): AttachedTo[] {
  return parts.attachments.list().map((attached) => shown(parts, attached));
}

/** Returns an attachment. Throws ATTACHMENT_UNKNOWN. */
export function attachmentAt(parts: ChangeParts, path: string): AttachedTo {
  const attached = parts.attachments.at(path);
  if (attached === null) throw new QuotameshError('ATTACHMENT_UNKNOWN', { scope: path.slice(0, 200) });
  return shown(parts, attached);
}

/**
 * Attaches a scope for the whole cluster. Rejects with ATTACHMENT_INVALID, ATTACHMENT_DANGLING, ATTACHMENT_CYCLIC,
 * ATTACHMENT_CHANGED, ATTACHMENT_OWNED, ATTACHMENTS_FULL.
 */
export async function attach(
  parts: ChangeParts,
  path: string,
  written: unknown,
  expected: Expected,
  by: Attaching,
): Promise<AttachedTo> {
  const attachment = checked(parts, path, written);
  const shown = attachmentAsWritten(attachment);
  const definition = withOwner(shown, by);
  const revision = await changeAsOwner(parts, path, { definition, expected, by }, () => {
    if (by.tenants !== null && !attachment.andBroader) rejectHiding(path, by, (scope) => ownerAt(parts, scope));
  });
  const attachedBy = ownerOf(definition);
  return { scope: path, origin: 'run-time', revision, attachment: shown, attachedBy };
}

/** Detaches a scope attached at run time; YAML's attachment, if any, is in force again. */
export async function detach(parts: ChangeParts, path: string, expected: Expected, by: Attaching): Promise<void> {
  const attachments = parts.attachments;
  const attached = attachments.at(path);
  if (attached === null) throw new QuotameshError('ATTACHMENT_UNKNOWN', { scope: path.slice(0, 200) });
  if (attached.origin === 'yaml') {
    throw new QuotameshError('ATTACHMENT_FROM_YAML', { scope: path, source: parts.config.source });
  }
  const same = attachments.list().filter(({ attachment }) => attachment.sameAs === path);
  if (same.length > 0 && !attachments.isConfigured(path)) {
    throw new QuotameshError('ATTACHMENT_IN_USE', { scope: path, scopes: namesOf(same) });
  }
  await changeAsOwner(parts, path, { definition: null, expected, by });
}

interface AttachmentChange {
  readonly definition: GroupDefinition | null;
  readonly expected: Expected;
  readonly by: Attaching;
}

/**
 * Proposes a change, and resolves with its revision. For a caller of some tenants the scope must still be as when its
 * owner was checked: somebody may have attached it meanwhile.
 */
async function changeAsOwner(
  parts: ChangeParts,
  path: string,
  { definition, expected, by }: AttachmentChange,
  check: () => void = () => undefined,
): Promise<number> {
  const registry = registryOf(parts);
  const { tenants, ...changedBy } = by;
  for (let attempt = 1; ; attempt++) {
    const before = registry.stateOf(attachmentName(path));
    rejectUnlessOwned(parts, path, by, before.definition);
    check();
    const seen = before.definition === null ? 0 : before.revision;
    const required = tenants === null ? expected : (expected ?? seen);
    const { accepted, state } = await registry.propose(attachmentName(path), required, definition, changedBy);
    if (accepted) return state.revision;
    if (required === expected || attempt === OWNER_ATTEMPTS) throw changed(path, state.revision, required);
  }
}

const OWNER_ATTEMPTS = 20;

/** Returns an attachment's owner; undefined = the scope is unattached. */
function ownerAt(parts: ChangeParts, scope: string): Owner | undefined {
  if (parts.attachments.at(scope) === null) return undefined;
  return ownerOf(registryOf(parts).stateOf(attachmentName(scope)).definition);
}

/** Rejects deleting an attached group. Throws GROUP_IN_USE; with `force` only for YAML's scopes. */
export function rejectInUse(parts: ChangeParts, group: string, force: boolean): void {
  const attachments = parts.attachments;
  const inTheWay = force ? attachments.withoutRunTime(group).of(group) : attachments.of(group);
  if (inTheWay.length === 0) return;
  throw new QuotameshError('GROUP_IN_USE', { group, scopes: namesOf(inTheWay) });
}

/** Lists scopes attached to what is not there, for `degraded`. */
export function danglingAttachments({ attachments }: Pick<ChangeParts, 'attachments'>): string[] {
  const { dangling } = attachments;
  if (dangling.length === 0) return [];
  return [`attached to what does not exist: ${dangling.slice(0, SHOWN_MAX).join(', ')}`];
}

const SHOWN_MAX = 20;

function shown(parts: ChangeParts, { path, origin, attachment }: ScopeEntry): AttachedTo {
  const { revision, definition } = parts.registry?.stateOf(attachmentName(path)) ?? NEVER;
  const isYaml = definition === null;
  return {
    scope: path,
    origin,
    revision: isYaml ? 0 : revision,
    attachment: attachmentAsWritten(attachment),
    attachedBy: ownerOf(definition),
  };
}

function checked(parts: ChangeParts, path: string, written: unknown): Attachment {
  const scope = path.slice(0, 200);
  const { attachment, mistakes } = examineAttachment(path, written, 'request');
  if (attachment === null || !SCOPE_PATH.matches.test(path)) {
    throw new QuotameshError('ATTACHMENT_INVALID', { scope, count: mistakes.length, details: mistakesText(mistakes) });
  }
  const { end, group, via } = parts.attachments.follow(attachment, path);
  if (end === 'cyclic') {
    throw new QuotameshError('ATTACHMENT_CYCLIC', { scope, circle: [path, ...via].join(' → ') });
  }
  const missing = end === 'dangling' ? `an attachment of ${via.at(-1)}` : `group ${group}`;
  if (
    end === 'dangling' ||
    (end === 'group' && !parts.groups.numbers.has(group) && parts.keys?.isKey(group) !== true)
  ) {
    throw new QuotameshError('ATTACHMENT_DANGLING', { scope, missing });
  }
  if (isFull({ attachments: parts.attachments, registry: parts.config.registry }, path)) {
    throw new QuotameshError('ATTACHMENTS_FULL', { scope, max: parts.config.registry.maxAttachments });
  }
  return attachment;
}

function changed(path: string, revision: number, expected: Expected): QuotameshError {
  return new QuotameshError('ATTACHMENT_CHANGED', {
    scope: path,
    reason: `its revision is ${revision}, not ${expected}`,
  });
}

function namesOf(scopes: readonly ScopeEntry[]): string {
  const names = scopes.slice(0, SHOWN_MAX).map(({ path }) => path);
  const more = scopes.length - names.length;
  return `${names.join(', ')}${more > 0 ? ` and ${more} more` : ''} ${scopes.length === 1 ? 'is' : 'are'}`;
}

import { QuotameshError } from '../../../base/errors/quotamesh-error.js';
import { isMapping } from '../../../base/input/mapping.js';
import { attachmentAsWritten, examineAttachment } from '../../../config/rules/attachment-definition.js';
import { SCOPE_PATH } from '../../../config/schema/attachments.js';
import { mistakesText } from '../../../config/setting/config-error.js';
import type { Attachment } from '../../../core/beside/attachments/attachment.js';
import type { ScopeEntry } from '../../../core/beside/attachments/attachments.js';
import { NEVER } from '../../../core/beside/registry/group-history.js';
import { attachmentName, type ChangedBy, type GroupDefinition } from '../../../core/beside/registry/registry-record.js';
import type { AttachedScope } from '../../api/quota-groups.js';
import { isFull, OWNER } from '../apply-attachment.js';
import { type ChangeParts, type Expected, registryOf } from './change-parts.js';

/** Tenants whose attachments a caller may change; null = the whole cluster's. */
type Owner = readonly string[] | null;

/** Caller that changes an attachment, with its tenants. */
export interface Attaching extends ChangedBy {
  readonly tenants: Owner;
}

export interface AttachedTo extends AttachedScope {
  /** Tenants of the caller that attached it. */
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
  const attachment = attachmentAsWritten(checked(parts, path, written));
  const definition = by.tenants === null ? attachment : { ...attachment, [OWNER]: [...by.tenants].sort() };
  const revision = await changeAsOwner(parts, path, definition, expected, by);
  return { scope: path, origin: 'run-time', revision, attachment, attachedBy: ownerOf(definition) };
}

/** Detaches a scope attached at run time; YAML's attachment, if any, is in force again. */
export async function detach(parts: ChangeParts, path: string, expected: Expected, by: Attaching): Promise<void> {
  const { attachments } = parts;
  if (attachmentAt(parts, path).origin === 'yaml') {
    throw new QuotameshError('FROM_YAML', { what: path, source: parts.config.source });
  }
  const same = attachments.list().filter(({ attachment }) => attachment.sameAs === path);
  if (same.length > 0 && !attachments.isConfigured(path)) {
    throw new QuotameshError('ATTACHMENT_IN_USE', { scope: path, scopes: namesOf(same) });
  }
  await changeAsOwner(parts, path, null, expected, by);
}

/**
 * Proposes a change, and resolves with its revision. For a caller of some tenants the scope must still be as when its
 * owner was checked: somebody may have attached it meanwhile.
 */
async function changeAsOwner(
  parts: ChangeParts,
  path: string,
  definition: GroupDefinition | null,
  expected: Expected,
  by: Attaching,
): Promise<number> {
  const registry = registryOf(parts);
  const { tenants, ...changedBy } = by;
  for (let attempt = 1; ; attempt++) {
    const before = registry.stateOf(attachmentName(path));
    if (parts.attachments.at(path) !== null) rejectUnlessOwned(path, path, by, ownerOf(before.definition));
    if (definition !== null && definition.andBroader !== true) rejectHiding(parts, path, by);
    const seen = before.definition === null ? 0 : before.revision;
    const required = tenants === null ? expected : (expected ?? seen);
    const { accepted, state } = await registry.propose(attachmentName(path), required, definition, changedBy);
    if (accepted) return state.revision;
    if (required !== expected && attempt < OWNER_ATTEMPTS) continue;
    const reason = `its revision is ${state.revision}, not ${required}`;
    throw new QuotameshError('ATTACHMENT_CHANGED', { scope: path, reason });
  }
}

const OWNER_ATTEMPTS = 20;

function ownerOf(definition: GroupDefinition | null): Owner {
  const owner = isMapping(definition) ? definition[OWNER] : null;
  return Array.isArray(owner) && owner.every((tenant) => typeof tenant === 'string') ? owner : null;
}

/** Rejects hiding another owner's broader attachment, without `andBroader`. Throws ATTACHMENT_OWNED. */
function rejectHiding(parts: ChangeParts, path: string, by: Attaching): void {
  for (const scope of broaderThan(path)) {
    if (parts.attachments.at(scope) === null) continue;
    rejectUnlessOwned(path, scope, by, ownerOf(registryOf(parts).stateOf(attachmentName(scope)).definition));
  }
}

/** Lists broader paths. *Worked:* `acme/orders/a/b` → `acme`, `acme/orders`. */
function broaderThan(path: string): readonly string[] {
  const [tenant = '', namespace, ...topic] = path.split('/');
  if (namespace === undefined) return [];
  return topic.length === 0 ? [tenant] : [tenant, `${tenant}/${namespace}`];
}

/** Rejects a caller with fewer rights than the owner of `at`. Throws ATTACHMENT_OWNED. */
function rejectUnlessOwned(path: string, at: string, { name, tenants }: Attaching, owner: Owner): void {
  if (tenants === null || owner?.every((tenant) => tenants.includes(tenant)) === true) return;
  const whose = owner === null ? "the cluster's operator" : `a caller of the tenants ${owner.join(', ')}`;
  const facts = { scope: path.slice(0, 200), at: at.slice(0, 200), owner: whose, caller: name };
  throw new QuotameshError('ATTACHMENT_OWNED', { ...facts, tenants: tenants.join(', ') });
}

/** Rejects deleting an attached group. Throws GROUP_IN_USE; with `force` only for YAML's scopes. */
export function rejectInUse(parts: ChangeParts, group: string, force: boolean): void {
  const { attachments } = parts;
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
  const attachedBy = ownerOf(definition);
  const written = attachmentAsWritten(attachment);
  return { scope: path, origin, revision: definition === null ? 0 : revision, attachment: written, attachedBy };
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
  if (end === 'dangling') {
    throw new QuotameshError('ATTACHMENT_DANGLING', { scope, missing: `an attachment of ${via.at(-1)}` });
  }
  if (end === 'group' && !parts.groups.numbers.has(group) && parts.keys?.isKey(group) !== true) {
    throw new QuotameshError('ATTACHMENT_DANGLING', { scope, missing: `group ${group}` });
  }
  if (isFull({ attachments: parts.attachments, registry: parts.config.registry }, path)) {
    throw new QuotameshError('ATTACHMENTS_FULL', { scope, max: parts.config.registry.maxAttachments });
  }
  return attachment;
}

function namesOf(scopes: readonly ScopeEntry[]): string {
  const names = scopes.slice(0, SHOWN_MAX).map(({ path }) => path);
  const more = scopes.length - names.length;
  return `${names.join(', ')}${more > 0 ? ` and ${more} more` : ''} ${scopes.length === 1 ? 'is' : 'are'}`;
}

import { QuotameshError } from '../../../base/errors/quotamesh-error.js';
import { isMapping } from '../../../base/input/mapping.js';
import type { ChangedBy, GroupDefinition } from '../../../core/beside/registry/registry-record.js';
import { OWNER } from '../apply-attachment.js';
import type { ChangeParts } from './change-parts.js';

/** The tenants for which a caller may change attachments; null = for the whole cluster. */
export type Owner = readonly string[] | null;

/** The caller that changes an attachment, and the tenants that it may change them for. */
export interface Attaching extends ChangedBy {
  readonly tenants: Owner;
}

/**
 * Writes the tenants of the caller into the definition of an attachment, so that the registry's states and the trail
 * name its owner. An attachment without an owner belongs to the whole cluster: its operator made it, or YAML, or a node
 * of a version that knew no owners.
 */
export function withOwner(definition: GroupDefinition, { tenants }: Attaching): GroupDefinition {
  return tenants === null ? definition : { ...definition, [OWNER]: [...tenants].sort() };
}

export function ownerOf(definition: GroupDefinition | null): Owner {
  const owner = isMapping(definition) ? definition[OWNER] : null;
  return Array.isArray(owner) && owner.every((tenant) => typeof tenant === 'string') ? owner : null;
}

/** Whether the caller may change everything that the owner of an attachment may. */
export function owns({ tenants }: Attaching, owner: Owner): boolean {
  return tenants === null || owner?.every((tenant) => tenants.includes(tenant)) === true;
}

/** Rejects a caller that may change less than the owner of the attachment. Throws ATTACHMENT_OWNED. */
export function rejectUnlessOwned(parts: ChangeParts, path: string, by: Attaching, definition: GroupDefinition | null) {
  if (by.tenants === null || parts.attachments.at(path) === null) return;
  const owner = ownerOf(definition);
  if (!owns(by, owner)) throw owned(path, path, by, owner);
}

/**
 * Rejects an attachment that would hide a broader one of another owner: without `andBroader`, a narrower attachment
 * replaces the broader one for its scope. Throws ATTACHMENT_OWNED.
 */
export function rejectHiding(path: string, by: Attaching, ownerAt: (scope: string) => Owner | undefined): void {
  for (const scope of broaderThan(path)) {
    const owner = ownerAt(scope);
    if (owner !== undefined && !owns(by, owner)) throw owned(path, scope, by, owner);
  }
}

/** `acme/orders/a/b` → `acme`, `acme/orders`. */
function broaderThan(path: string): readonly string[] {
  const [tenant = '', namespace, ...topic] = path.split('/');
  if (namespace === undefined) return [];
  return topic.length === 0 ? [tenant] : [tenant, `${tenant}/${namespace}`];
}

function owned(path: string, scope: string, { name, tenants }: Attaching, owner: Owner): QuotameshError {
  const whose = owner === null ? "the cluster's operator" : `a caller of the tenants ${owner.join(', ')}`;
  const facts = { scope: path.slice(0, 200), at: scope.slice(0, 200), owner: whose, caller: name };
  return new QuotameshError('ATTACHMENT_OWNED', { ...facts, tenants: (tenants ?? []).join(', ') });
}

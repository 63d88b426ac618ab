import { QuotameshError } from '../../../base/errors/quotamesh-error.js';
import { isMapping } from '../../../base/input/mapping.js';
import type { ChangedBy, GroupDefinition } from '../../../core/beside/registry/registry-record.js';
import { OWNER } from '../apply-attachment.js';
import type { ChangeParts } from './change-parts.js';

/** Tenants whose attachments a caller may change; null = the whole cluster's. */
export type Owner = readonly string[] | null;

/** Caller that changes an attachment, with its tenants. */
export interface Attaching extends ChangedBy {
  readonly tenants: Owner;
}

/** Writes the caller's tenants into an attachment, as its owner; none = the cluster's. */
export function withOwner(definition: GroupDefinition, { tenants }: Attaching): GroupDefinition {
  return tenants === null ? definition : { ...definition, [OWNER]: [...tenants].sort() };
}

export function ownerOf(definition: GroupDefinition | null): Owner {
  const owner = isMapping(definition) ? definition[OWNER] : null;
  return Array.isArray(owner) && owner.every((tenant) => typeof tenant === 'string') ? owner : null;
}

/** Tests if a caller may change all that an owner may. */
export function owns({ tenants }: Attaching, owner: Owner): boolean {
  return tenants === null || owner?.every((tenant) => tenants.includes(tenant)) === true;
}

/** Rejects a caller with fewer rights than the owner. Throws ATTACHMENT_OWNED. */
export function rejectUnlessOwned(parts: ChangeParts, path: string, by: Attaching, definition: GroupDefinition | null) {
  if (by.tenants === null || parts.attachments.at(path) === null) return;
  const owner = ownerOf(definition);
  if (!owns(by, owner)) throw owned(path, path, by, owner);
}

/** Rejects hiding another owner's broader attachment, without `andBroader`. Throws ATTACHMENT_OWNED. */
export function rejectHiding(path: string, by: Attaching, ownerAt: (scope: string) => Owner | undefined): void {
  for (const scope of broaderThan(path)) {
    const owner = ownerAt(scope);
    if (owner !== undefined && !owns(by, owner)) throw owned(path, scope, by, owner);
  }
}

/** Lists broader paths. *Worked:* `acme/orders/a/b` → `acme`, `acme/orders`. */
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

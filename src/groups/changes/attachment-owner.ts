import type { ChangedBy, GroupDefinition } from '../../core/registry/registry-record.js';
import { QuotameshError } from '../../errors/quotamesh-error.js';
import { isMapping } from '../../input/mapping.js';
import type { QuotaNode } from '../../node/quota-node.js';
import { SCOPE } from '../apply-attachment.js';

/** The tenants for which a caller may change attachments; null = for the whole cluster. */
export type Scope = readonly string[] | null;

/** The caller that changes an attachment, and its scope. */
export interface Attaching extends ChangedBy {
  readonly tenants: Scope;
}

/**
 * Writes the scope of the caller into the definition of an attachment, so that the registry's states and the trail have
 * it. An attachment without a scope belongs to the whole cluster: its operator made it, or YAML, or a node of a version
 * without scopes.
 */
export function withScope(definition: GroupDefinition, { tenants }: Attaching): GroupDefinition {
  return tenants === null ? definition : { ...definition, [SCOPE]: [...tenants].sort() };
}

export function scopeOf(definition: GroupDefinition | null): Scope {
  const scope = isMapping(definition) ? definition[SCOPE] : null;
  return Array.isArray(scope) && scope.every((tenant) => typeof tenant === 'string') ? scope : null;
}

/** Whether the scope of an attachment lies within that of the caller. */
export function owns({ tenants }: Attaching, scope: Scope): boolean {
  return tenants === null || scope?.every((tenant) => tenants.includes(tenant)) === true;
}

/** Rejects a caller with less scope than the attachment that it changes has. Throws ATTACHMENT_OWNED. */
export function rejectUnlessOwned(node: QuotaNode, path: string, by: Attaching, definition: GroupDefinition | null) {
  if (by.tenants === null || node.gate.places.attachments.at(path) === null) return;
  const scope = scopeOf(definition);
  if (!owns(by, scope)) throw owned(path, path, by, scope);
}

/**
 * Rejects an attachment that would hide a broader one of more scope: without `andBroader`, a narrower attachment
 * replaces the broader one for its place. Throws ATTACHMENT_OWNED.
 */
export function rejectHiding(path: string, by: Attaching, scopeAt: (place: string) => Scope | undefined): void {
  for (const place of broaderThan(path)) {
    const scope = scopeAt(place);
    if (scope !== undefined && !owns(by, scope)) throw owned(path, place, by, scope);
  }
}

/** `acme/orders/a/b` → `acme`, `acme/orders`. */
function broaderThan(path: string): readonly string[] {
  const [tenant = '', namespace, ...topic] = path.split('/');
  if (namespace === undefined) return [];
  return topic.length === 0 ? [tenant] : [tenant, `${tenant}/${namespace}`];
}

function owned(path: string, place: string, { name, tenants }: Attaching, scope: Scope): QuotameshError {
  const owner = scope === null ? "the cluster's operator" : `a caller of the tenants ${scope.join(', ')}`;
  const facts = { place: path.slice(0, 200), at: place.slice(0, 200), owner, caller: name };
  return new QuotameshError('ATTACHMENT_OWNED', { ...facts, tenants: (tenants ?? []).join(', ') });
}

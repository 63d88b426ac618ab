/** Where work comes from and goes to; what is not known is absent. */
export interface Scope {
  readonly tenant?: string;
  readonly namespace?: string;
  readonly topic?: string;
  /** Client identity. */
  readonly client?: string;
  /** Headers of the work, by lower-case name. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** What a tenant, namespace or topic is attached to. Exactly one of `group`, `sameAs` and `exempt` says something. */
export interface Attachment {
  readonly group: string | null;
  /** Path of a place: attached to whatever that is attached to. */
  readonly sameAs: string | null;
  /** Limited by nothing, and counted apart (PIP-82 leaves replication out). */
  readonly exempt: boolean;
  /** What the broader places are attached to is enforced too; else this alone is. */
  readonly andBroader: boolean;
}

/** Which work belongs to which group, by patterns; null = not asked for. The first that matches in all counts. */
export interface AttachmentRule {
  readonly tenant: string | null;
  readonly namespace: string | null;
  readonly topic: string | null;
  readonly client: string | null;
  /** Lower-case name → pattern. */
  readonly headers: Readonly<Record<string, string>>;
  /** A name, or one made of captures: `{tenant}-premium`; null where `exempt`. */
  readonly group: string | null;
  readonly exempt: boolean;
  readonly andBroader: boolean;
}

/** The part of YAML that says which scope belongs to which group. */
export interface AttachmentsConfig {
  /** Path of a scope → attachment. */
  readonly scopes: Readonly<Record<string, Attachment>>;
  readonly rules: readonly AttachmentRule[];
}

/** From broad to specific. */
export const SCOPE_KINDS = ['tenant', 'namespace', 'topic'] as const;
export type ScopeKind = (typeof SCOPE_KINDS)[number];

/** `acme` is a tenant, `acme/orders` a namespace, `acme/orders/a/b` a topic: tenants and namespaces have no slash. */
export function scopeKindOf(path: string): ScopeKind {
  const tenantEnd = path.indexOf('/');
  if (tenantEnd === -1) return 'tenant';
  return path.indexOf('/', tenantEnd + 1) === -1 ? 'namespace' : 'topic';
}

/** Paths of a place, the most specific first; empty without a tenant. */
export function pathsOf({ tenant, namespace, topic }: Scope): string[] {
  if (!isName(tenant)) return [];
  if (!isName(namespace)) return [tenant];
  const path = `${tenant}/${namespace}`;
  return topic === undefined || topic === '' ? [path, tenant] : [`${path}/${topic}`, path, tenant];
}

/** With a slash in it a tenant would pass for a namespace. */
function isName(name: string | undefined): name is string {
  return name !== undefined && name !== '' && !name.includes('/');
}

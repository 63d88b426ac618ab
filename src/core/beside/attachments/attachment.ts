/** Where work comes from and goes to; names that are not known are absent. */
export interface Scope {
  readonly tenant?: string;
  readonly namespace?: string;
  readonly topic?: string;
  /** Client identity. */
  readonly client?: string;
  /** Headers of the work, by lower-case name. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** What a tenant, namespace or topic is attached to. Exactly one of `group`, `sameAs` and `exempt` is set. */
export interface Attachment {
  readonly group: string | null;
  /** Path of another scope: this one is attached to whatever that one is attached to. */
  readonly sameAs: string | null;
  /** Limited by nothing, and counted apart (PIP-82 leaves replication out). */
  readonly exempt: boolean;
  /** True = the groups of the broader scopes are enforced as well; false = this attachment alone counts. */
  readonly andBroader: boolean;
}

/**
 * Says by patterns which work belongs to a group; null = any name matches. The first rule whose patterns all match
 * counts.
 */
export interface AttachmentRule {
  readonly tenant: string | null;
  readonly namespace: string | null;
  readonly topic: string | null;
  readonly client: string | null;
  /** Lower-case name → pattern. */
  readonly headers: Readonly<Record<string, string>>;
  /** The group's name, or a template with captured names: `{tenant}-premium`; null if `exempt`. */
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

/** Paths of a scope, the most specific first; empty without a tenant. */
export function pathsOf({ tenant, namespace, topic }: Scope): string[] {
  if (!isName(tenant)) return [];
  if (!isName(namespace)) return [tenant];
  const path = `${tenant}/${namespace}`;
  return topic === undefined || topic === '' ? [path, tenant] : [`${path}/${topic}`, path, tenant];
}

/** A slash is refused: a tenant with one in its name would pass for a namespace. */
function isName(name: string | undefined): name is string {
  return name !== undefined && name !== '' && !name.includes('/');
}

/** Origin and target of work; unknown names are absent. */
export interface Scope {
  readonly tenant?: string;
  readonly namespace?: string;
  readonly topic?: string;
  readonly client?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Attachment of a scope: exactly one of `group`, `sameAs`, `exempt`. */
export interface Attachment {
  readonly group: string | null;
  /** Path of another scope, whose attachment also counts here. */
  readonly sameAs: string | null;
  /** True = unlimited, and counted apart (PIP-82 leaves replication out). */
  readonly exempt: boolean;
  /** True = groups of broader scopes are enforced as well. */
  readonly andBroader: boolean;
}

/** Rule by patterns; null = any. The first rule whose patterns all match counts. */
export interface AttachmentRule {
  readonly tenant: string | null;
  readonly namespace: string | null;
  readonly topic: string | null;
  readonly client: string | null;
  /** Lower-case name → pattern. */
  readonly headers: Readonly<Record<string, string>>;
  /** Name of a group or template with captured names (`{tenant}-premium`); null = `exempt`. */
  readonly group: string | null;
  readonly exempt: boolean;
  readonly andBroader: boolean;
}

export interface AttachmentsConfig {
  /** Path of a scope → attachment. */
  readonly scopes: Readonly<Record<string, Attachment>>;
  readonly rules: readonly AttachmentRule[];
}

export const SCOPE_KINDS = ['tenant', 'namespace', 'topic'] as const;
export type ScopeKind = (typeof SCOPE_KINDS)[number];

/** Returns the kind of a path. *Worked:* `acme` is a tenant, `acme/orders` a namespace, `acme/orders/a/b` a topic. */
export function scopeKindOf(path: string): ScopeKind {
  const tenantEnd = path.indexOf('/');
  if (tenantEnd === -1) return 'tenant';
  return path.indexOf('/', tenantEnd + 1) === -1 ? 'namespace' : 'topic';
}

/** Lists the paths of a scope, the most specific first; none without a tenant. */
export function pathsOf({ tenant, namespace, topic }: Scope): string[] {
  if (!isName(tenant)) return [];
  if (!isName(namespace)) return [tenant];
  const path = `${tenant}/${namespace}`;
  return topic === undefined || topic === '' ? [path, tenant] : [`${path}/${topic}`, path, tenant];
}

/** Tests a name. A name with a slash would pass for a namespace. */
function isName(name: string | undefined): name is string {
  return name !== undefined && name !== '' && !name.includes('/');
}

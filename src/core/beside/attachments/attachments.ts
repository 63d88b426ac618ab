import {
  type Attachment,
  type AttachmentRule,
  type AttachmentsConfig,
  pathsOf,
  type Scope,
  type ScopeKind,
  scopeKindOf,
} from './attachment.js';
import { type Captured, fill, matchName, matchTopic } from './patterns.js';

/** Finding that counts for work: an attachment or a rule. */
export interface Because {
  readonly level: 'rule' | ScopeKind;
  /** Path of the scope, or `rule 3` (from 0, as in messages). */
  readonly at: string;
  readonly origin: 'yaml' | 'run-time';
  /** Paths that `sameAs` was followed over. */
  readonly via: readonly string[];
  /** Null = exempt. */
  readonly group: string | null;
  readonly andBroader: boolean;
}

export interface Resolution {
  /** Groups enforced at once, the most specific first; none = nothing attached, or exempt. */
  readonly groups: readonly string[];
  readonly exempt: boolean;
  /** Attachments and rules found, in the order in which they count. */
  readonly because: readonly Because[];
}

export interface ScopeEntry {
  readonly path: string;
  readonly origin: 'yaml' | 'run-time';
  readonly attachment: Attachment;
}

/** End of a chain of `sameAs`. */
export type Followed =
  | { readonly end: 'group'; readonly group: string; readonly via: readonly string[] }
  | { readonly end: 'exempt' | 'dangling' | 'cyclic'; readonly group: null; readonly via: readonly string[] };

/**
 * Decides which groups limit which work (PIP-82, attach to tenant and namespace). Rules come first, then topic,
 * namespace, tenant. The first match or attachment counts alone; `andBroader` lets the next one count as well, and so
 * on. An exempt scope found first lifts all limits; after a group it ends the search. An attachment at run time
 * replaces that of YAML for the same scope. *Worked:* acme → gold, acme/orders → orders. Work of acme/orders is limited
 * by orders, with `andBroader` by gold, too; work of acme/other by gold.
 */
export class Attachments {
  #scopes: Readonly<Record<string, Attachment>> = {};
  #rules: readonly AttachmentRule[] = [];
  readonly #atRunTime = new Map<string, Attachment>();
  readonly #isGroup: (group: string) => boolean;

  constructor(config: AttachmentsConfig, isGroup: (group: string) => boolean) {
    this.#isGroup = isGroup;
    this.configure(config);
  }

  /** Replaces the attachments of YAML. */
  configure({ scopes, rules }: AttachmentsConfig): void {
    this.#scopes = scopes;
    this.#rules = rules;
  }

  /** Attaches a scope at run time; null restores YAML's attachment. */
  define(path: string, attachment: Attachment | null): void {
    if (attachment === null) this.#atRunTime.delete(path);
    else this.#atRunTime.set(path, attachment);
  }

  at(path: string): ScopeEntry | null {
    const atRunTime = this.#atRunTime.get(path);
    if (atRunTime !== undefined) return { path, origin: 'run-time', attachment: atRunTime };
    if (!Object.hasOwn(this.#scopes, path)) return null;
    return { path, origin: 'yaml', attachment: this.#scopes[path] };
  }

  /** Tests if YAML attaches the scope. */
  isConfigured(path: string): boolean {
    return Object.hasOwn(this.#scopes, path);
  }

  /** Scopes of YAML that run time hides. */
  get hidden(): string[] {
    return Object.keys(this.#scopes).filter((path) => this.#atRunTime.has(path));
  }

  /** Number of scopes attached at run time. */
  get size(): number {
    return this.#atRunTime.size;
  }

  list(): ScopeEntry[] {
    return [...this.#all()].sort((one, other) => (one.path < other.path ? -1 : 1));
  }

  *#all(): Generator<ScopeEntry> {
    for (const [path, attachment] of this.#atRunTime) yield { path, origin: 'run-time', attachment };
    for (const [path, attachment] of Object.entries(this.#scopes)) {
      if (!this.#atRunTime.has(path)) yield { path, origin: 'yaml', attachment };
    }
  }

  /** Lists the scopes whose attachment leads to this group. */
  of(group: string): ScopeEntry[] {
    return [...this.#all()].filter(({ attachment }) => this.follow(attachment).group === group);
  }

  /** Copies all but the run-time scopes that lead to this group. */
  withoutRunTime(group: string): Attachments {
    const others = new Attachments({ scopes: this.#scopes, rules: this.#rules }, this.#isGroup);
    const gone = new Set(this.of(group).flatMap(({ path, origin }) => (origin === 'run-time' ? [path] : [])));
    for (const [path, attachment] of this.#atRunTime) if (!gone.has(path)) others.define(path, attachment);
    return others;
  }

  /** Scopes that lead to no group or scope: another node's change came first. */
  get dangling(): string[] {
    return [...this.#all()].flatMap(({ path, attachment }) => {
      const followed = this.follow(attachment, path);
      const isWhole = followed.end === 'exempt' || (followed.end === 'group' && this.#isGroup(followed.group));
      return isWhole ? [] : [path];
    });
  }

  resolve(scope: Scope): Resolution {
    const groups: string[] = [];
    const because: Because[] = [];
    for (const found of this.#matching(scope)) {
      because.push(found);
      if (found.group === null) return { groups, exempt: groups.length === 0, because };
      if (!groups.includes(found.group)) groups.push(found.group);
      if (!found.andBroader) break;
    }
    return { groups, exempt: false, because };
  }

  /** Follows `sameAs`. @param from path of the attachment, to detect a circle */
  follow(attachment: Attachment, from?: string): Followed {
    const via: string[] = [];
    let current = attachment;
    while (current.sameAs !== null) {
      const path = current.sameAs;
      if (path === from || via.includes(path)) return { end: 'cyclic', group: null, via: [...via, path] };
      via.push(path);
      const next = this.at(path);
      if (next === null) return { end: 'dangling', group: null, via };
      current = next.attachment;
    }
    return current.group === null ? { end: 'exempt', group: null, via } : { end: 'group', group: current.group, via };
  }

  *#matching(scope: Scope): Generator<Because> {
    for (let at = 0; at < this.#rules.length; at++) {
      const rule = this.#rules[at];
      const captured = match(rule, scope);
      const group = captured === null || rule.group === null ? null : fill(rule.group, captured);
      if (captured === null || !(rule.exempt || (group !== null && this.#isGroup(group)))) continue;
      const { andBroader } = rule;
      yield { level: 'rule', at: `rule ${at}`, origin: 'yaml', via: [], group: rule.exempt ? null : group, andBroader };
      break;
    }
    for (const path of pathsOf(scope)) {
      const attached = this.at(path);
      if (attached === null) continue;
      const { attachment, origin } = attached;
      const followed = this.follow(attachment, path);
      // `dangling` lists an attachment that leads nowhere.
      if (followed.end === 'dangling' || followed.end === 'cyclic') continue;
      const { group, via } = followed;
      yield { level: scopeKindOf(path), at: path, origin, via, group, andBroader: attachment.andBroader };
    }
  }
}

function match(rule: AttachmentRule, scope: Scope): Captured | null {
  const captured: Captured = Object.create(null);
  const { tenant = '', namespace = '', topic = '', client = '', headers = {} } = scope;
  if (tenant !== '') captured.tenant = tenant;
  if (namespace !== '') captured.namespace = namespace;
  const all =
    (rule.tenant === null || matchName(rule.tenant, tenant, captured)) &&
    (rule.namespace === null || matchName(rule.namespace, namespace, captured)) &&
    (rule.client === null || matchName(rule.client, client, captured)) &&
    (rule.topic === null || matchTopic(rule.topic, topic, captured)) &&
    Object.entries(rule.headers).every(([name, pattern]) => {
      return Object.hasOwn(headers, name) && matchName(pattern, headers[name], captured);
    });
  // A name captured as `client` goes before the client of the scope.
  if (all && client !== '') captured.client ??= client;
  return all ? captured : null;
}

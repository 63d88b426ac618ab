import { scopeKindOf } from '../attachments/attachment.js';

/**
 * Records of the registry topic as the core sees them: decoded, checked, and free of the wire format.
 * What a group's definition means is the configuration's business (src/config); here it is only carried.
 */
export type RegistryRecord =
  | ProposalRecord
  | BatchPartRecord
  | BatchRecord
  | VerdictRecord
  | StateRecord
  | AuditRecord
  | BarrierRecord
  | EpochRecord
  | YamlRecord;

/** A group as YAML writes it, below `groups.<name>`: JSON, with every key that somebody has given. */
export type GroupDefinition = Readonly<Record<string, unknown>>;

/** The caller that asked for a change, as the node that was asked knows it. Carried, never judged. */
export interface ChangedBy {
  readonly name: string;
  /** How that is known: `open`, `token`, `certificate` (src/base/access/caller.ts). */
  readonly how: string;
  /** Id of the request: the caller's x-request-id, or made up. */
  readonly requestId: string;
  /** Wall clock of the node that was asked, Unix milliseconds. For people: nothing is decided by it. */
  readonly atMs: number;
}

/** Somebody wants a group to be like this. Whether it comes true is decided by its offset alone. */
export interface ProposalRecord {
  readonly kind: 'proposal';
  /** Unique for ever; part of the key. */
  readonly id: string;
  /** Id of the node that wrote it. */
  readonly author: string;
  readonly group: string;
  /** The revision that the group must have now; 0 = it must not exist; null = whatever it is. */
  readonly expected: number | null;
  /** null = delete it. */
  readonly definition: GroupDefinition | null;
  /** A deletion detaches whatever is attached to the group at this offset of the log (releases.ts). */
  readonly detaching?: true;
  /** null or absent = the node that wrote it does not say. */
  readonly by?: ChangedBy | null;
}

/** Some groups of a batch; means nothing until the batch's own record stands behind all of its parts. */
export interface BatchPartRecord {
  readonly kind: 'batch-part';
  readonly id: string;
  readonly author: string;
  /** 0 … one less than the batch has parts. */
  readonly part: number;
  readonly entries: readonly BatchEntry[];
}

/** A group of a batch, with the words of a proposal. Nothing is deleted in a batch. */
export interface BatchEntry {
  readonly group: string;
  readonly expected: number | null;
  readonly definition: GroupDefinition;
}

/** Somebody wants all groups of the parts to be like this, or none; its offset decides (batched-changes.ts). */
export interface BatchRecord {
  readonly kind: 'batch';
  readonly id: string;
  readonly author: string;
  readonly parts: number;
  readonly by: ChangedBy | null;
}

/** What became of a batch, for readers from whom compaction takes away what has decided it. */
export interface VerdictRecord {
  readonly kind: 'verdict';
  /** Id of the batch. */
  readonly id: string;
  readonly author: string;
  readonly isAccepted: boolean;
}

/**
 * An accepted change: what the group was before it and is after it, and who wanted it. A function of the log up to the
 * proposal, so that it does not matter which node writes it, or how often.
 */
export interface AuditRecord {
  readonly kind: 'audit';
  /** Id of the node that was asked, not of the one that writes this. */
  readonly author: string;
  readonly group: string;
  /** The revision that the change gave to the group. Groups of a batch share it, and what was detached with a group. */
  readonly revision: number;
  /** null = nothing was defined at run time. */
  readonly before: GroupDefinition | null;
  readonly after: GroupDefinition | null;
  readonly by: ChangedBy | null;
  /** The entry was detached because this group was deleted; absent = the change was asked for by itself. */
  readonly withGroup?: string;
  /** The group was changed together with others; absent = alone. */
  readonly inBatch?: true;
}

/** The whole state of a group: every record of the group with a lasting offset below `asOf` is contained in it. */
export interface StateRecord {
  readonly kind: 'state';
  readonly author: string;
  readonly group: string;
  readonly asOf: number;
  /** What its writer added to offsets (registry-epochs.ts). */
  readonly shift: number;
  readonly revision: number;
  /** null = deleted. */
  readonly definition: GroupDefinition | null;
}

/** Read back, it shows its writer that it has read all that was compacted away while it was catching up. */
export interface BarrierRecord {
  readonly kind: 'barrier';
  readonly author: string;
  readonly id: string;
}

/** Gives the records after this one their lasting offsets (registry-epochs.ts). */
export interface EpochRecord {
  readonly kind: 'epoch';
  readonly author: string;
  /** Unique for ever; part of the key. */
  readonly id: string;
  /** The lasting offset of the record behind this one, unless an earlier epoch record gives it a higher one. */
  readonly base: number;
  /** The offset at which it counts, once it was written again; absent = its own. */
  readonly at?: number;
}

/** Hashes of groups that stand in a node's YAML, for comparison by people; changes no group. */
export interface YamlRecord {
  readonly kind: 'yaml';
  readonly author: string;
  /** Version of the node's program: hashes of different versions are not comparable. */
  readonly version: string;
  /** A node's groups are told in parts. */
  readonly part: number;
  /** Name → hash. */
  readonly groups: Readonly<Record<string, string>>;
}

/**
 * Keys, for one cluster. A proposal has a key of its own, because compaction would keep the newest proposal of a group
 * and lose the winner. So has every state: one that was sent before another and arrives after it must not replace it.
 */
export interface RegistryKeys {
  proposal(id: string): string;
  batchPart(id: string, part: number): string;
  verdict(id: string): string;
  state(group: string, asOf: number): string;
  /** @param auditId of the record in the trail: `auditIdOf` */
  audit(auditId: string): string;
  /** The `auditId` of such a key; null for any other. */
  auditedBy(key: string): string | null;
  barrier(nodeId: string): string;
  /** Each of these records has a key of its own, so that compaction leaves all of them where they are. */
  epoch(id: string): string;
  yaml(nodeId: string, part: number): string;
}

/** @param cluster the cluster's hash; clusters may share a topic */
export function registryKeys(cluster: number): RegistryKeys {
  const prefix = cluster.toString(16).padStart(8, '0');
  return {
    proposal: (id) => `${prefix}/proposal/${id}`,
    batchPart: (id, part) => `${prefix}/batch-part/${part}/${id}`,
    verdict: (id) => `${prefix}/verdict/${id}`,
    state: (entry, asOf) => `${prefix}${entry.startsWith('/') ? entry : `/group/${entry}`}/${asOf}`,
    audit: (auditId) => `${prefix}/audit/${auditId}`,
    auditedBy: (key) => (key.startsWith(`${prefix}/audit/`) ? key.slice(prefix.length + 7) : null),
    barrier: (nodeId) => `${prefix}/barrier/${nodeId}`,
    epoch: (id) => `${prefix}/epoch/${id}`,
    yaml: (nodeId, part) => `${prefix}/yaml/${part}/${nodeId}`,
  };
}

const ATTACHMENT = '/attachment/';

/**
 * Attachments are entries of the registry as groups are, with the same rules. Their names begin with a slash, as those
 * of groups cannot: `/attachment/tenant/acme`, `/attachment/namespace/acme/orders`.
 */
export function attachmentName(path: string): string {
  return `${ATTACHMENT}${scopeKindOf(path)}/${path}`;
}

/** The path of the attached scope; null for the name of a group. */
export function attachedPath(name: string): string | null {
  if (!name.startsWith(ATTACHMENT)) return null;
  return name.slice(name.indexOf('/', ATTACHMENT.length) + 1);
}

const KEY_TEMPLATE = '/key-template/';
const KEY = '/key/';

/** `/key-template/key:{id}`. */
export function templateEntry(pattern: string): string {
  return `${KEY_TEMPLATE}${pattern}`;
}

/** Settings of a single key: `/key/key:acme`. */
export function keyEntry(name: string): string {
  return `${KEY}${name}`;
}

/** What an entry of the registry is about. */
export interface Entry {
  readonly kind: 'group' | 'attachment' | 'key-template' | 'key';
  /** The name of a group or key, the path of a scope, or the pattern of a template. */
  readonly name: string;
}

export function entryOf(entry: string): Entry {
  const path = attachedPath(entry);
  if (path !== null) return { kind: 'attachment', name: path };
  if (entry.startsWith(KEY_TEMPLATE)) return { kind: 'key-template', name: entry.slice(KEY_TEMPLATE.length) };
  return entry.startsWith(KEY) ? { kind: 'key', name: entry.slice(KEY.length) } : { kind: 'group', name: entry };
}

/**
 * `17`; of what was detached with a group `17/attachment/tenant/acme`; of a group of a batch `17/group/gold`. No two
 * changes have the same.
 */
export function auditIdOf({ revision, group, withGroup, inBatch }: AuditRecord): string {
  if (inBatch) return `${revision}/group/${group}`;
  return withGroup === undefined ? String(revision) : `${revision}${group}`;
}

/** The key that a record must have, or null where what it says is impossible. */
export function keyOf(keys: RegistryKeys, record: RegistryRecord): string {
  switch (record.kind) {
    case 'proposal':
    case 'batch':
      return keys.proposal(record.id);
    case 'batch-part':
      return keys.batchPart(record.id, record.part);
    case 'verdict':
      return keys.verdict(record.id);
    case 'state':
      return keys.state(record.group, record.asOf);
    case 'audit':
      return keys.audit(auditIdOf(record));
    case 'barrier':
      return keys.barrier(record.author);
    case 'epoch':
      return keys.epoch(record.id);
    case 'yaml':
      return keys.yaml(record.author, record.part);
  }
}

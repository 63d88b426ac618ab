import { scopeKindOf } from '../attachments/attachment.js';

/** Records of the registry topic, decoded and checked. Definitions are only carried. */
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

/** Group as below `groups.<name>` in YAML: JSON with every given key. */
export type GroupDefinition = Readonly<Record<string, unknown>>;

/** Caller of a change by its node. Carried, never judged. */
export interface ChangedBy {
  readonly name: string;
  /** Proof: `open`, `token`, `certificate` (src/base/access/caller.ts). */
  readonly how: string;
  /** Id of the request: its x-request-id, or made up. */
  readonly requestId: string;
  /** Unix milliseconds of the node's wall clock, for people alone. */
  readonly atMs: number;
}

/** Proposal of a group; its offset alone decides. */
export interface ProposalRecord {
  readonly kind: 'proposal';
  /** Unique for ever; part of the key. */
  readonly id: string;
  readonly author: string;
  readonly group: string;
  /** Revision that the group must have; 0 = none, null = any. */
  readonly expected: number | null;
  /** Null deletes the group. */
  readonly definition: GroupDefinition | null;
  /** True = the deletion detaches the group's attachments at this offset (releases.ts). */
  readonly detaching?: true;
  /** Null or absent = unknown. */
  readonly by?: ChangedBy | null;
}

/** Part of a batch that is larger than a record. Void without the batch's own record. */
export interface BatchPartRecord {
  readonly kind: 'batch-part';
  readonly id: string;
  readonly author: string;
  /** Number of the part, from 0. */
  readonly part: number;
  readonly entries: readonly BatchEntry[];
}

/** Group of a batch, as in a proposal; batches delete nothing. */
export interface BatchEntry {
  readonly group: string;
  readonly expected: number | null;
  readonly definition: GroupDefinition;
}

/** Batch of groups, all or none; its offset decides (batched-changes.ts). */
export interface BatchRecord {
  readonly kind: 'batch';
  readonly id: string;
  readonly author: string;
  /** Parts that stand before it; 0 = the record is the whole batch. */
  readonly parts: number;
  readonly entries: readonly BatchEntry[];
  readonly by: ChangedBy | null;
}

/** Fate of a batch, for readers whose evidence is compacted away. */
export interface VerdictRecord {
  readonly kind: 'verdict';
  readonly id: string;
  readonly author: string;
  readonly isAccepted: boolean;
}

/** Accepted change: before, after and author. A function of the log, by any writer, at any time. */
export interface AuditRecord {
  readonly kind: 'audit';
  /** Id of the requested node, not the writer's. */
  readonly author: string;
  readonly group: string;
  /** Revision by the change; groups of a batch share it, as do detached entries. */
  readonly revision: number;
  /** Null = nothing was defined at run time. */
  readonly before: GroupDefinition | null;
  readonly after: GroupDefinition | null;
  readonly by: ChangedBy | null;
  /** Deleted group that detached it; absent = changed by itself. */
  readonly withGroup?: string;
  /** True = changed with others; absent = alone. */
  readonly inBatch?: true;
}

/** Whole state of a group by all lasting offsets below `asOf`. */
export interface StateRecord {
  readonly kind: 'state';
  readonly author: string;
  readonly group: string;
  readonly asOf: number;
  /** Addend of its writer's offsets (registry-epochs.ts). */
  readonly shift: number;
  readonly revision: number;
  /** Null = deleted. */
  readonly definition: GroupDefinition | null;
}

/** Proves, once read back, that compaction hides no record from its writer. */
export interface BarrierRecord {
  readonly kind: 'barrier';
  readonly author: string;
  readonly id: string;
}

/** Gives later records their lasting offsets (registry-epochs.ts). */
export interface EpochRecord {
  readonly kind: 'epoch';
  readonly author: string;
  /** Unique for ever; part of the key. */
  readonly id: string;
  /** Least lasting offset of the next record. */
  readonly base: number;
  /** Offset at which a repeated one counts; absent = its own. */
  readonly at?: number;
}

/** Hashes of a node's YAML groups, compared for people; changes nothing. */
export interface YamlRecord {
  readonly kind: 'yaml';
  readonly author: string;
  /** Version of the node's program; hashes of different versions cannot be compared. */
  readonly version: string;
  /** Number of the record: a node's groups stand in several. */
  readonly part: number;
  /** Name → hash. */
  readonly groups: Readonly<Record<string, string>>;
}

/**
 * Makes the keys of one cluster. Each proposal and state has its own: compaction would drop the winning proposal, or a
 * later state for one that arrives after it.
 */
export interface RegistryKeys {
  proposal(id: string): string;
  batchPart(id: string, part: number): string;
  verdict(id: string): string;
  state(group: string, asOf: number): string;
  /** @param auditId of the record in the trail: `auditIdOf` */
  audit(auditId: string): string;
  /** Returns the `auditId` of such a key; null = another key. */
  auditedBy(key: string): string | null;
  barrier(nodeId: string): string;
  /** Unique key per record: compaction leaves all epoch records in place. */
  epoch(id: string): string;
  yaml(nodeId: string, part: number): string;
}

/** Makes keys. @param cluster the cluster's hash, as clusters may share a topic */
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

/** Names an attachment's entry: `/attachment/tenant/acme`; no group begins with a slash. */
export function attachmentName(path: string): string {
  return `${ATTACHMENT}${scopeKindOf(path)}/${path}`;
}

/** Returns the attached scope's path; null = a group. */
export function attachedPath(name: string): string | null {
  if (!name.startsWith(ATTACHMENT)) return null;
  return name.slice(name.indexOf('/', ATTACHMENT.length) + 1);
}

const KEY_TEMPLATE = '/key-template/';
const KEY = '/key/';

/** Names a template's entry: `/key-template/key:{id}`. */
export function templateEntry(pattern: string): string {
  return `${KEY_TEMPLATE}${pattern}`;
}

/** Names a single key's entry: `/key/key:acme`. */
export function keyEntry(name: string): string {
  return `${KEY}${name}`;
}

export interface Entry {
  readonly kind: 'group' | 'attachment' | 'key-template' | 'key';
  /** Name of a group or key, scope's path, or template's pattern. */
  readonly name: string;
}

export function entryOf(entry: string): Entry {
  const path = attachedPath(entry);
  if (path !== null) return { kind: 'attachment', name: path };
  if (entry.startsWith(KEY_TEMPLATE)) return { kind: 'key-template', name: entry.slice(KEY_TEMPLATE.length) };
  return entry.startsWith(KEY) ? { kind: 'key', name: entry.slice(KEY.length) } : { kind: 'group', name: entry };
}

/** Names a change uniquely: `17`, detached with a group `17/attachment/tenant/acme`, of a batch `17/group/gold`. */
export function auditIdOf({ revision, group, withGroup, inBatch }: AuditRecord): string {
  if (inBatch) return `${revision}/group/${group}`;
  return withGroup === undefined ? String(revision) : `${revision}${group}`;
}

/** Returns the key that a record must have. */
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

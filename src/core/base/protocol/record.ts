import { BUNDLES_MAX } from '../constants.js';
import { BASE64URL, bitsOf, isWideId } from '../ids.js';
import {
  type BackendId,
  DIRECTION_COUNT,
  type EpochTag,
  type GroupId,
  type Incarnation,
  type NodeId,
  type NodeKey,
} from '../vocabulary.js';

/** A record of the topic: decoded, checked, and free of the wire format. */
export type TopicRecord = NodeRecord | ReportRecord | FarewellRecord | BackendRecord | GroupStateRecord;

/** Node and life that wrote a record; see Author in proto/report.proto. */
export interface Author {
  readonly nodeKey: NodeKey;
  readonly incarnation: Incarnation;
  /** Rises with every record of the incarnation, across all keys. */
  readonly sequence: number;
}

/** Tests if a record is older. A node's records are ordered by life and sequence, other nodes' by the log alone. */
export function isOlder({ nodeKey, incarnation, sequence }: Author, known: Author): boolean {
  if (nodeKey !== known.nodeKey) return false;
  if (incarnation !== known.incarnation) return incarnation < known.incarnation;
  return sequence <= known.sequence;
}

/** Finds a node's newest life among authors; 0 = none. The node's next life has to be newer. */
export function newestLifeAmong(records: Iterable<{ readonly author: Author }>, nodeKey: NodeKey): Incarnation {
  let newest = 0;
  for (const { author } of records) {
    if (author.nodeKey === nodeKey && author.incarnation > newest) newest = author.incarnation;
  }
  return newest;
}

/** Makes a node a member, and is its sign of life. */
export interface NodeRecord {
  readonly kind: 'node';
  readonly author: Author;
  readonly nodeId: NodeId;
  readonly version: string;
  /** Live count that the node has applied (usage-map/pool); absent = none. */
  readonly pool?: number;
  /** The epoch that the writer reads; absent = the topic has published none. */
  readonly epoch?: EpochTag;
  /** Partitions that the writer counts; absent in records of older versions. */
  readonly partitions?: number;
  /** At most KEY_ROWS_MAX; absent = none. */
  readonly keys?: readonly KeyRow[];
}

/**
 * Names a key for nodes without it (core/report/key-names.ts). The rates are the writer's grants where no report has
 * them, units per second, float32 on the wire; 0 where reports do. No share follows from them.
 */
export interface KeyRow {
  readonly groupId: GroupId;
  readonly direction: number;
  /** Every reader checks that this name has the id. */
  readonly name: string;
  readonly messages: number;
  readonly bytes: number;
}

/** Frees the node's shares at once, because it leaves. The tombstone that may follow changes nothing. */
export interface FarewellRecord {
  readonly kind: 'farewell';
  readonly author: Author;
  readonly nodeId: NodeId;
}

/** One bundle of one node, complete for its key. */
export interface ReportRecord {
  readonly kind: 'report';
  readonly author: Author;
  readonly rows: readonly ReportRow[];
  /** Offset after the last record that the author had read; absent = 0. */
  readonly readUntilOffset?: number;
  /** Log time until the buckets of all rows are full without use; absent = they are full. */
  readonly fullInMs?: number;
}

export interface BackendRecord {
  readonly kind: 'backend';
  readonly author: Author;
  readonly backend: string;
  readonly zone: string;
  readonly health: BackendHealth;
}

/** Publishes the ceiling of a ramp for one direction of a group; it outlives its writer. */
export interface GroupStateRecord {
  readonly kind: 'group-state';
  readonly author: Author;
  readonly groupId: GroupId;
  readonly direction: number;
  /** Messages/s of the whole cluster. */
  readonly ceiling: number;
  /** Log time that the ceiling had held at the record or `readUntilMs`. */
  readonly lateMs: number;
  /** Append time of the writer's last record read. 0 = the ceiling held when this record was appended. */
  readonly readUntilMs: number;
  /** Offset after that record. */
  readonly readUntilOffset: number;
  readonly timeToLiveMs: number;
}

/** One direction of one group. Rates are units per second, finite and ≥ 0, float32 on the wire. */
export interface ReportRow {
  readonly groupId: GroupId;
  readonly direction: number;
  /** Topics of the group in use at the writer (limiter/topics-in-use.ts). */
  readonly topics: number;
  readonly usageMessages: number;
  readonly usageBytes: number;
  readonly demandMessages: number;
  readonly demandBytes: number;
  readonly shareMessages: number;
  readonly shareBytes: number;
  /**
   * Units taken beyond the node's expected use since its life began (core/account/own-account.ts). Absent = nothing.
   */
  readonly charge?: readonly [messages: number, bytes: number];
  /**
   * Tokens of the lane's bucket by the author's log, units, float32. NaN = no bucket in the dimension; absent = in
   * neither. `unread` is the author's charge since then that it has not read back.
   */
  readonly stock?: readonly [messages: number, bytes: number];
  readonly unread?: readonly [messages: number, bytes: number];
  /** Absent = no costs were reported at the node. */
  readonly costs?: LaneCosts;
}

/** Rates of a row whose node neither wants nor holds anything. */
export const NOTHING_REPORTED = {
  topics: 0,
  usageMessages: 0,
  usageBytes: 0,
  demandMessages: 0,
  demandBytes: 0,
  shareMessages: 0,
  shareBytes: 0,
} as const satisfies Omit<ReportRow, 'groupId' | 'direction'>;

export const NO_STOCK = Number.NaN;

export function chargeIn({ charge }: Pick<ReportRow, 'charge'>): readonly [messages: number, bytes: number] {
  return charge ?? NOTHING_CHARGED;
}

const NOTHING_CHARGED = [0, 0] as const;

/** Makes the key of a NODE record: 8 characters of base64url. Reports have a base-36 bundle number behind a slash. */
export function nodeRecordKey(nodeKey: NodeKey): string {
  let text = '';
  let rest = nodeKey;
  for (let at = 0; at < NODE_KEY_LENGTH; at++) {
    text = BASE64URL[rest % 64] + text;
    rest = Math.floor(rest / 64);
  }
  return text;
}

export function reportRecordKey(nodeKey: NodeKey, bundle: number): string {
  return `${nodeRecordKey(nodeKey)}/${bundle.toString(36)}`;
}

export function isNodeRecordKey(key: string): boolean {
  return key.length === NODE_KEY_LENGTH;
}

export function backendRecordKey(backend: string): string {
  return BACKEND_PREFIX + backend;
}

export function backendOfRecordKey(key: string): string | null {
  return key.startsWith(BACKEND_PREFIX) ? key.slice(BACKEND_PREFIX.length) : null;
}

export function groupStateRecordKey(groupId: GroupId, direction: number): string {
  return `${GROUP_PREFIX}${groupId}/${direction}`;
}

/** Finds the lane whose ceiling stands under a key, or null. */
export function laneOfGroupStateKey(key: string): { readonly groupId: GroupId; readonly direction: number } | null {
  if (!isGroupStateKey(key)) return null;
  const [groupId, direction] = key.slice(GROUP_PREFIX.length).split('/');
  const lane = { groupId, direction: Number(direction) };
  const isMade = isWideId(groupId) && groupStateRecordKey(groupId, lane.direction) === key;
  return isMade && lane.direction < DIRECTION_COUNT ? lane : null;
}

/** Tests for the key of a ramp's ceiling. All nodes write it. */
export function isGroupStateKey(key: string): boolean {
  return key.startsWith(GROUP_PREFIX);
}

/** Reads the node from a key; null = a foreign key. */
export function nodeKeyOfRecordKey(key: string): NodeKey | null {
  if (key.length < NODE_KEY_LENGTH || (key.length > NODE_KEY_LENGTH && key[NODE_KEY_LENGTH] !== '/')) return null;
  let nodeKey = 0;
  for (let at = 0; at < NODE_KEY_LENGTH; at++) {
    const digit = BASE64URL.indexOf(key[at]);
    if (digit < 0) return null;
    nodeKey = nodeKey * 64 + digit;
  }
  return nodeKey;
}

/** Reads the bundle number from a key; null = `reportRecordKey` never makes the key. */
export function bundleOfRecordKey(key: string): number | null {
  const begin = NODE_KEY_LENGTH + 1;
  const digits = key.length - begin;
  if (key[NODE_KEY_LENGTH] !== '/' || digits < 1 || digits > NUMBER_LENGTH_MAX) return null;
  if (digits > 1 && key[begin] === '0') return null;
  let number = 0;
  for (let at = begin; at < key.length; at++) {
    const digit = BASE_36.indexOf(key[at]);
    if (digit < 0) return null;
    number = number * 36 + digit;
  }
  return number < BUNDLES_MAX ? number : null;
}

const NUMBER_LENGTH_MAX = 4;
const BASE_36 = '0123456789abcdefghijklmnopqrstuvwxyz';
const BACKEND_PREFIX = 'backend/';
const GROUP_PREFIX = 'group/';
/** 48 bits, six per character. */
const NODE_KEY_LENGTH = 8;

/** Costs of one lane at one node. Smoothed rates per second. */
export interface LaneCosts {
  /** Pieces of work whose cost was reported. */
  readonly transactions: number;
  /** In falling order of cost, then by id. */
  readonly backends: readonly BackendCost[];
}

/** A backend's level (queue, utilisation) against its target, or its throttling ratio. */
export type BackendHealth =
  | { readonly kind: 'level'; readonly level: number; readonly target: number; readonly spring: number }
  | { readonly kind: 'ratio'; readonly ratio: number };

/** Finds the one partition of a group, which orders all its reports. */
export function partitionOf(groupId: GroupId, partitions: number): number {
  return bitsOf(groupId) % partitions;
}

export interface BackendCost {
  readonly backend: BackendId;
  readonly cost: number;
}

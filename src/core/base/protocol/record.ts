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

/** A record of the topic as the core sees it: decoded, checked, and free of the wire format. */
export type TopicRecord = NodeRecord | ReportRecord | FarewellRecord | BackendRecord | GroupStateRecord;

/** The node that wrote a record, and in which of its lives; see proto/report.proto, Author. */
export interface Author {
  readonly nodeKey: NodeKey;
  readonly incarnation: Incarnation;
  /** Rises with every record of the incarnation, across all keys. */
  readonly sequence: number;
}

/** Sign of life, and what makes a node a member. */
export interface NodeRecord {
  readonly kind: 'node';
  readonly author: Author;
  readonly nodeId: NodeId;
  readonly version: string;
  /** The live count that the node has applied to strategies that divide by an agreed pool; where it has such groups. */
  readonly pool?: number;
  /** The epoch that the writer reads; absent where the topic has told none. */
  readonly epoch?: EpochTag;
  /** The partitions of the topic as the writer counts them; absent in records of older versions. */
  readonly partitions?: number;
  /** At most KEY_ROWS_MAX; absent where there are none. */
  readonly keys?: readonly KeyRow[];
}

/**
 * Names a key, which others may not know (core/report/key-names.ts), and tells what the writer grants of it where no
 * report does: units per second, float32 on the wire; 0 where reports do. No share follows from it.
 */
export interface KeyRow {
  readonly groupId: GroupId;
  readonly direction: number;
  /** Every reader checks that it has this id. */
  readonly name: string;
  readonly messages: number;
  readonly bytes: number;
}

/** A record with more is not read. */
export const KEY_ROWS_MAX = 64;

/** The node leaves: its shares are free at once. The tombstone that may follow changes nothing. */
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
  /** The offset after the last record of the partition that the author had read; absent = 0. */
  readonly readUntilOffset?: number;
  /** After so much log time the buckets of all rows are full if nobody takes anything; absent = they are full. */
  readonly fullInMs?: number;
}

/** The health of a backend, as its writer was told. */
export interface BackendRecord {
  readonly kind: 'backend';
  readonly author: Author;
  readonly backend: string;
  readonly zone: string;
  readonly health: BackendHealth;
}

/** Ceiling of the ramp of one direction of a group; outlives the node that wrote it. */
export interface GroupStateRecord {
  readonly kind: 'group-state';
  readonly author: Author;
  readonly groupId: GroupId;
  readonly direction: number;
  /** Messages/s of the whole cluster. */
  readonly ceiling: number;
  /** The ceiling was in force so much log time before the record, or before `readUntilMs`. */
  readonly lateMs: number;
  /** Append time of the last record that the writer had read; 0 = the ceiling held when the record was appended. */
  readonly readUntilMs: number;
  /** The offset after that one. */
  readonly readUntilOffset: number;
  readonly timeToLiveMs: number;
}

/** One direction of one group. Rates are units per second, finite and ≥ 0, float32 on the wire. */
export interface ReportRow {
  readonly groupId: GroupId;
  readonly direction: number;
  /** Topics of the group that were in use at the writer (limiter/topics-in-use.ts). */
  readonly topics: number;
  readonly usageMessages: number;
  readonly usageBytes: number;
  readonly demandMessages: number;
  readonly demandBytes: number;
  readonly shareMessages: number;
  readonly shareBytes: number;
  /**
   * Units taken beyond what everybody expects of the node, in every dimension since its life began
   * (core/account/own-account.ts). Absent = nothing.
   */
  readonly charge?: readonly [messages: number, bytes: number];
  /**
   * Tokens of the lane's bucket by all that the author had read, and what it has charged since and not read back: units
   * in every dimension, float32. NaN = there is no bucket. Absent = neither dimension has one.
   */
  readonly stock?: readonly [messages: number, bytes: number];
  readonly unread?: readonly [messages: number, bytes: number];
  /** Absent = no costs of the group were reported at the node. */
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

/** The stock of a dimension without a bucket. */
export const NO_STOCK = Number.NaN;

/** Reads the charge of a row; absent = nothing. */
export function chargeIn({ charge }: Pick<ReportRow, 'charge'>): readonly [messages: number, bytes: number] {
  return charge ?? NOTHING_CHARGED;
}

const NOTHING_CHARGED = [0, 0] as const;

/** Keys of the topic. 8 characters of base64url for the node, a base-36 bundle number behind a slash for reports. */
export function nodeRecordKey(nodeKey: NodeKey): string {
  return encodeKey(nodeKey);
}

export function reportRecordKey(nodeKey: NodeKey, bundle: number): string {
  return `${encodeKey(nodeKey)}/${bundle.toString(36)}`;
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

/** The lane whose ceiling stands under a key; null if `groupStateRecordKey` does not make such a key. */
export function laneOfGroupStateKey(key: string): { readonly groupId: GroupId; readonly direction: number } | null {
  if (!isGroupStateKey(key)) return null;
  const [groupId, direction] = key.slice(GROUP_PREFIX.length).split('/');
  const lane = { groupId, direction: Number(direction) };
  const isMade = isWideId(groupId) && groupStateRecordKey(groupId, lane.direction) === key;
  return isMade && lane.direction < DIRECTION_COUNT ? lane : null;
}

/** Tests for the key of a ramp's ceiling, which belongs to no node, because all write it. */
export function isGroupStateKey(key: string): boolean {
  return key.startsWith(GROUP_PREFIX);
}

/** The node a key belongs to, or null when the key is not one of ours. */
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

/** The bundle number in a key; null if `reportRecordKey` does not make such a key. */
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

/** The most bundles of a node. With one group in each, this bounds the groups that a node has in use at once. */
export const BUNDLES_MAX = 65_536;
const NUMBER_LENGTH_MAX = 4;
const BASE_36 = '0123456789abcdefghijklmnopqrstuvwxyz';
const BACKEND_PREFIX = 'backend/';
const GROUP_PREFIX = 'group/';
/** 48 bits, six per character. */
const NODE_KEY_LENGTH = 8;

function encodeKey(nodeKey: NodeKey): string {
  let text = '';
  let rest = nodeKey;
  for (let at = 0; at < NODE_KEY_LENGTH; at++) {
    text = BASE64URL[rest % 64] + text;
    rest = Math.floor(rest / 64);
  }
  return text;
}

/** Costs of one lane at this node. Smoothed rates per second. */
export interface LaneCosts {
  /** Pieces of work whose cost was reported. */
  readonly transactions: number;
  /** In falling order of cost, then by id. */
  readonly backends: readonly BackendCost[];
}

/** The health of a backend: a level (queue, utilisation) against its target, or the throttling ratio itself. */
export type BackendHealth =
  | { readonly kind: 'level'; readonly level: number; readonly target: number; readonly spring: number }
  | { readonly kind: 'ratio'; readonly ratio: number };

/** A group belongs to one partition, so that all its reports have one order. */
export function partitionOf(groupId: GroupId, partitions: number): number {
  return bitsOf(groupId) % partitions;
}

export interface BackendCost {
  readonly backend: BackendId;
  readonly cost: number;
}

import { sha256 } from './sha256.js';
import type { BackendId, EpochTag, GroupId, Incarnation, NodeKey } from './vocabulary.js';

/**
 * Makes a group's id from the names of cluster and group. It is the first 96 bits of their SHA-256, as 16 characters of
 * base64url (PIP-82, "Resource consumption considerations"). So the topic needs no dictionary, which compaction could
 * move behind its users.
 *
 * *Worked:* among a million keys and 100,000 groups two have the same id with a probability of 8e-18. A name with the
 * id of one group takes 2^95 trials to find; with that of any of them, 2^75.
 * *Why:* docs/decisions/0133-ids-that-nobody-can-choose.md
 */
export function groupIdOf(cluster: string, group: string): GroupId {
  return wideId(`group/${cluster}/${group}`);
}

export function backendIdOf(cluster: string, backend: string): BackendId {
  return wideId(`backend/${cluster}/${backend}`);
}

/** Makes the id of a node: 48 bits of the hash. Only the operator of a cluster names nodes, so these suffice. */
export function nodeKeyOf(cluster: string, nodeId: string): NodeKey {
  const hash = sha256(`node/${cluster}/${nodeId}`);
  return hash[0] * 0x10000 + (hash[1] >>> 16);
}

/** Makes 32 bits of the cluster's name for the envelope. */
export function clusterHashOf(cluster: string): number {
  return sha256(`cluster/${cluster}`)[0];
}

/** Makes the 32 bits by which NODE records name their log. Never 0, which means: not named. */
export function epochTagOf(epoch: string): EpochTag {
  return sha256(`epoch/${epoch}`)[0] || 1;
}

/** Reads the first 30 bits of an id: evenly spread, and the same at every node. */
export function bitsOf(id: GroupId | BackendId): number {
  return readWords(id)[0] >>> 2;
}

/** Tests if a text is the id of a group or backend. */
export function isWideId(text: string): boolean {
  return text.length === ID_LENGTH && [...text].every((digit) => BASE64URL.includes(digit));
}

/** Reads an id as three words, the most significant bits first. The words are scratch space: copy them at once. */
export function readWords(id: GroupId | BackendId): Uint32Array {
  const second = quarter(id, 4);
  const third = quarter(id, 8);
  words[0] = (quarter(id, 0) << 8) | (second >>> 16);
  words[1] = (second << 16) | (third >>> 8);
  words[2] = (third << 24) | quarter(id, 12);
  return words;
}

export function writeId(first: number, second: number, third: number): GroupId | BackendId {
  const quarters = quarterText(first >>> 8) + quarterText(((first & 0xff) << 16) | (second >>> 16));
  return quarters + quarterText(((second & 0xffff) << 8) | (third >>> 24)) + quarterText(third & 0xffffff);
}

/** Characters of an id of a group or a backend. */
export const ID_LENGTH = 16;
export const BASE64URL = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

function wideId(text: string): GroupId | BackendId {
  const hash = sha256(text);
  return writeId(hash[0], hash[1], hash[2]);
}

/** Reads four characters: 24 bits. */
function quarter(id: string, at: number): number {
  let bits = 0;
  for (let index = at; index < at + 4; index++) bits = (bits << 6) | DIGITS[id.charCodeAt(index) & 127];
  return bits;
}

/** Writes 24 bits as four characters. */
function quarterText(bits: number): string {
  return PAIRS[bits >>> 12] + PAIRS[bits & 4095];
}

const words = new Uint32Array(3);
/** Two characters for every 12 bits. */
const PAIRS = Array.from({ length: 4096 }, (_, bits) => BASE64URL[bits >>> 6] + BASE64URL[bits & 63]);
const DIGITS = new Uint8Array(128);
for (let digit = 0; digit < BASE64URL.length; digit++) DIGITS[BASE64URL.charCodeAt(digit)] = digit;

/**
 * Most lives of an id: the wire format holds 32 bits. No node gets there by restarting. Without this bound, a forged
 * record of the last life would make the next life 0, which no node accepts.
 */
export const INCARNATIONS_MAX = 0xffff_ffff;

/** Makes the number that orders a node's lives: incarnation, then random tie-breaker. Exact below 2^48. */
export function incarnationOf(count: number, nonce: number): Incarnation {
  return count * 0x10000 + nonce;
}

export function incarnationCount(incarnation: Incarnation): number {
  return Math.floor(incarnation / 0x10000);
}

export function incarnationNonce(incarnation: Incarnation): number {
  return incarnation % 0x10000;
}

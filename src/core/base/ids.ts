import type { BackendId, EpochTag, GroupId, Incarnation, NodeKey } from './vocabulary.js';

/**
 * 48-bit ids instead of names on the wire (PIP-82, "Resource consumption considerations"), hashed from cluster and
 * name, so that no dictionary is needed: compaction could move a dictionary behind its users.
 * 100,000 groups collide with probability 1.8e-5; a collision is refused when a group is registered (ID_COLLISION).
 */
export function groupIdOf(cluster: string, group: string): GroupId {
  return hash48(`group/${cluster}/${group}`);
}

export function nodeKeyOf(cluster: string, nodeId: string): NodeKey {
  return hash48(`node/${cluster}/${nodeId}`);
}

export function backendIdOf(cluster: string, backend: string): BackendId {
  return hash48(`backend/${cluster}/${backend}`);
}

/** 32 bits of the cluster's name for the envelope. */
export function clusterHashOf(cluster: string): number {
  return Math.floor(hash48(`cluster/${cluster}`) / 0x10000);
}

/** The 32 bits by which NODE records name the log that their writer reads; never 0, which means: not named. */
export function epochTagOf(epoch: string): EpochTag {
  return Math.floor(hash48(`epoch/${epoch}`) / 0x10000) || 1;
}

/**
 * The most lives that an id can have: the wire format holds 32 bits. No node gets there by restarting; but without this
 * bound, a forged record of the last life would make the next life 0, which no node accepts.
 */
export const INCARNATIONS_MAX = 0xffff_ffff;

/** One number that orders the lives of a node: incarnation first, then the random tie-breaker. Exact below 2^48. */
export function incarnationOf(count: number, nonce: number): Incarnation {
  return count * 0x10000 + nonce;
}

export function incarnationCount(incarnation: Incarnation): number {
  return Math.floor(incarnation / 0x10000);
}

export function incarnationNonce(incarnation: Incarnation): number {
  return incarnation % 0x10000;
}

/**
 * Two 32-bit multiply-xor lanes with a murmur3 finalizer each. Not cryptographic: ids are not secrets.
 * UTF-16 code units are hashed, so every JavaScript engine agrees.
 */
function hash48(text: string): number {
  let low = 0x9747b28c;
  let high = 0x41c6ce57;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    low = Math.imul(low ^ unit, 0x9e3779b1);
    high = Math.imul(high ^ unit, 0x5f356495);
  }
  low = finalize(low ^ (high >>> 15));
  high = finalize(high ^ (low >>> 13));
  return (high >>> 16) * 0x100000000 + (low >>> 0);
}

function finalize(hash: number): number {
  let mixed = hash ^ (hash >>> 16);
  mixed = Math.imul(mixed, 0x85ebca6b);
  mixed ^= mixed >>> 13;
  mixed = Math.imul(mixed, 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}

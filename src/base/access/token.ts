import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/** 256 random bits behind a prefix by which people and secret scanners know what they have found. */
export function newToken(): string {
  return `${PREFIX}${randomBytes(32).toString('base64url')}`;
}

/**
 * 32 bytes. One round of SHA-256 is enough because nobody guesses 256 random bits; slow hashes protect what people make up,
 * and would cost every new connection what they cost the attacker (docs/decisions/0038).
 */
export function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

/** The token's hash in the form that the configuration has. */
export function writtenHash(token: string): string {
  return `${HASH_PREFIX}${hashOf(token).toString('hex')}`;
}

export function isSameHash(one: Buffer, other: Buffer): boolean {
  return timingSafeEqual(one, other);
}

const PREFIX = 'qm_';
export const HASH_PREFIX = 'sha256:';

/** A token instead of its hash: never shown in a message. */
export function looksLikeToken(text: string): boolean {
  return text.startsWith(PREFIX);
}

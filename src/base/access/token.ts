import { createHash, randomBytes } from 'node:crypto';

/** Makes a token: 256 random bits behind a prefix for people and secret scanners. */
export function newToken(): string {
  return `${PREFIX}${randomBytes(32).toString('base64url')}`;
}

/** Hashes a token to 32 bytes by one round of SHA-256: enough for 256 random bits (docs/decisions/0038). */
export function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

/** Writes a token's hash as the configuration has it. */
export function writtenHash(token: string): string {
  return `${HASH_PREFIX}${hashOf(token).toString('hex')}`;
}

const PREFIX = 'qm_';
export const HASH_PREFIX = 'sha256:';

/** Tests for a token in place of its hash: no message may show one. */
export function looksLikeToken(text: string): boolean {
  return text.startsWith(PREFIX);
}

import { ID_LENGTH, incarnationCount, incarnationNonce, incarnationOf } from '../../core/base/ids.js';
import type { Author } from '../../core/base/protocol/record.js';
import type { quotamesh } from './generated/report.js';

/** Error of well-formed records that no node writes: lengths differ, rates are negative or not finite. */
export const ABSURD = 'absurd';

const MAX_NAME_LENGTH = 1024;

export function encodeAuthor(author: Author): quotamesh.v1.IAuthor {
  const nodeKey = new Uint8Array(6);
  write48(nodeKey, 0, author.nodeKey);
  return {
    nodeKey,
    incarnation: incarnationCount(author.incarnation),
    nonce: incarnationNonce(author.incarnation),
    sequence: author.sequence,
  };
}

export function decodeAuthor(author: quotamesh.v1.IAuthor | null | undefined): Author | null {
  const { nodeKey, incarnation, nonce, sequence } = author ?? {};
  if (nodeKey?.length !== 6 || !incarnation || !sequence || (nonce ?? 0) > 0xffff) return null;
  return { nodeKey: read48(nodeKey, 0), incarnation: incarnationOf(incarnation, nonce ?? 0), sequence };
}

export function isColumn(column: readonly number[], count: number): boolean {
  return column.length === count || column.length === 0;
}

export function isWireRate(rate: number): boolean {
  return Number.isFinite(rate) && rate >= 0;
}

/** Tests for a sum of charges, exact below 2^53; no life gets there. */
export function isCharge(units: number): boolean {
  return Math.abs(units) <= Number.MAX_SAFE_INTEGER;
}

export function isOffset(offset: number): boolean {
  return Number.isSafeInteger(offset) && offset >= 0;
}

export function isName(name: string): boolean {
  return name.length > 0 && name.length <= MAX_NAME_LENGTH;
}

/** Encodes ids of groups or backends: 12 bytes for their 16 characters of base64url. */
export function encodeIds(ids: readonly string[]): Uint8Array {
  return Buffer.from(ids.join(''), 'base64url');
}

/** Decodes ids; null = no whole number of them. */
export function decodeIds(bytes: Uint8Array): readonly string[] | null {
  if (bytes.length % ID_BYTES !== 0) return null;
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64url');
  return Array.from({ length: bytes.length / ID_BYTES }, (_, at) => text.slice(at * ID_LENGTH, (at + 1) * ID_LENGTH));
}

const ID_BYTES = 12;

export function write48(target: Uint8Array, at: number, number: number): void {
  let rest = number;
  for (let byte = at + 5; byte >= at; byte--) {
    target[byte] = rest % 256;
    rest = Math.floor(rest / 256);
  }
}

export function read48(source: Uint8Array, at: number): number {
  let number = 0;
  for (let byte = at; byte < at + 6; byte++) number = number * 256 + source[byte];
  return number;
}

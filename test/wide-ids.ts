/** Makes an id of a group or a backend from a number below 2^53: 12 bytes, big endian, as base64url. */
export function wideId(number: number): string {
  const bytes = Buffer.alloc(12);
  bytes.writeBigUInt64BE(BigInt(number), 4);
  return bytes.toString('base64url');
}

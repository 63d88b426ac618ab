/**
 * Bounds the inflated bytes of an LZ4 frame: its blocks, each of the largest size of its header. *Why:* the package has
 * no bound, and a byte can stand for 255.
 */
export function lz4BytesMax(bytes: Buffer): number {
  if (bytes.readUInt32LE(0) !== MAGIC) throw new Error('no frame of LZ4');
  const flags = bytes.readUInt8(FLAGS_AT);
  const blockMax = 4 ** (((bytes.readUInt8(FLAGS_AT + 1) >> 4) & 0x07) + 4);
  const checksum = flags & BLOCK_CHECKSUM ? CHECKSUM_BYTES : 0;
  let most = 0;
  for (let at = HEADER_BYTES + (flags & CONTENT_SIZE ? 8 : 0) + (flags & DICTIONARY ? 4 : 0); ; ) {
    const length = bytes.readUInt32LE(at) & ~UNCOMPRESSED;
    if (length === 0) return most;
    most += blockMax;
    at += 4 + length + checksum;
  }
}

const MAGIC = 0x184d2204;
/** Magic 4, flags 1, block size 1, checksum of the header 1. */
const HEADER_BYTES = 7;
const FLAGS_AT = 4;
const BLOCK_CHECKSUM = 0x10;
const CONTENT_SIZE = 0x08;
const DICTIONARY = 0x01;
const CHECKSUM_BYTES = 4;
/** Highest bit of a block's length: not compressed. */
const UNCOMPRESSED = 0x8000_0000;

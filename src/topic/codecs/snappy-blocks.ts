/**
 * Returns the blocks of Snappy in a record batch: with Kafka's Java header and lengths, or a single one. @param
 * inflatedMax bytes of all blocks together; more is an error before any is inflated
 */
export function snappyBlocks(bytes: Buffer, inflatedMax: number): Buffer[] {
  const blocks = bytes.subarray(0, JAVA_MARK.length).equals(JAVA_MARK) ? [...javaBlocks(bytes)] : [bytes];
  const inflated = blocks.reduce((total, block) => total + inflatedLength(block), 0);
  if (inflated > inflatedMax) throw new Error(`${inflated} bytes, at most ${inflatedMax} are allowed`);
  return blocks;
}

const JAVA_MARK = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0]);
/** Mark, version, and the oldest version that can read it. */
const JAVA_HEADER_BYTES = 16;

function* javaBlocks(bytes: Buffer): Generator<Buffer> {
  for (let at = JAVA_HEADER_BYTES; at < bytes.length; ) {
    const length = bytes.readInt32BE(at);
    const end = at + 4 + length;
    if (length < 0 || end > bytes.length) throw new Error(`a block of ${length} bytes`);
    yield bytes.subarray(at + 4, end);
    at = end;
  }
}

/** Reads the length before a block: seven bits per byte, at most 32 in all. */
function inflatedLength(block: Buffer): number {
  let length = 0;
  for (let at = 0; at < 5; at++) {
    const byte = block[at];
    if (byte === undefined) break;
    length += (byte & 0x7f) * 2 ** (7 * at);
    if (byte < 0x80) return length;
  }
  throw new Error('a block without a length');
}

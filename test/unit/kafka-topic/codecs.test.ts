import { createHash, randomBytes } from 'node:crypto';
import * as zlib from 'node:zlib';
import fc from 'fast-check';
import lz4 from 'lz4-napi';
import snappy from 'snappy';
import { describe, expect, test } from 'vitest';
import { addCodecs, CODEC_NUMBERS, codecOf, type KafkajsCodecs } from '../../../src/topic/codecs/codecs.js';
import { lz4BytesMax } from '../../../src/topic/codecs/lz4-frame.js';
import { snappyBlocks } from '../../../src/topic/codecs/snappy-blocks.js';
import { runs } from '../../property/seed.js';

const HAS_ZSTD = 'zstdCompressSync' in zlib;
const HERE = (['gzip', 'snappy', 'lz4', 'zstd'] as const).filter((name) => name !== 'zstd' || HAS_ZSTD);
/** Node.js 22 does not look for the end of a frame. */
const REFUSES_CUT_OFF_ZSTD = Number(process.versions.node.split('.')[0]) >= 24;
const BOMB = Buffer.alloc(17 * 1024 * 1024);

/** Makes bytes that look drawn, and are the same in every run: a single 0 is an empty block of snappy. */
function garbageOf(length: number): Buffer {
  return createHash('sha512').update(`${length}`).digest().subarray(0, length);
}

describe.each(HERE)('%s', (name) => {
  const codec = codecOf(CODEC_NUMBERS[name])!;

  test('gives back what it was given', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 2000 }), fc.integer({ min: 1, max: 300 }), (piece, times) => {
        const bytes = Buffer.concat(Array.from({ length: times }, () => piece));
        expect(codec.inflate(codec.compress(bytes)).equals(bytes)).toBe(true);
      }),
      runs(100),
    );
    const random = randomBytes(300_000);
    expect(codec.inflate(codec.compress(random)).equals(random)).toBe(true);
  });

  test('inflates nothing beyond 4 MiB, and no garbage', () => {
    expect(() => codec.inflate(codec.compress(BOMB))).toThrow(/are allowed|larger than/);
    const endsEarly = name === 'zstd' && !REFUSES_CUT_OFF_ZSTD;
    // Shorter garbage may be the beginning of a frame.
    for (let length = endsEarly ? 4 : 0; length < 40; length++) {
      expect(() => codec.inflate(garbageOf(length))).toThrow();
    }
    if (endsEarly) return console.log(`not shown: ${process.version} inflates what a cut-off zstd frame holds`);
    const cut = codec.compress(randomBytes(1000));
    expect(() => codec.inflate(cut.subarray(0, -1))).toThrow();
  });

  test('is what kafkajs writes with', async () => {
    const codecs: KafkajsCodecs = {};
    addCodecs(codecs);
    const bytes = Buffer.from('a report');
    const written = await codecs[CODEC_NUMBERS[name]]?.().compress({ buffer: bytes });
    // kafkajs has gzip.
    if (name !== 'gzip') expect(codec.inflate(written)).toEqual(bytes);
  });
});

test('a codec that Kafka does not have is none; one that this Node.js does not have is told by name', () => {
  expect(codecOf(0)).toBeNull();
  expect(codecOf(7)).toBeNull();
  if (HAS_ZSTD) return console.log('not shown: this Node.js has zstd');
  expect(() => codecOf(CODEC_NUMBERS.zstd)).toThrow(
    'records of the topic are compressed with zstd, for which this node has no codec: it needs Node.js 22.15 or newer',
  );
});

describe('the blocks of Snappy', () => {
  const plain = snappy.compressSync('one block as it is');

  function javaStream(...blocks: Buffer[]): Buffer {
    const header = Buffer.from([0x82, ...Buffer.from('SNAPPY'), 0, 0, 0, 0, 1, 0, 0, 0, 1]);
    const parts = blocks.flatMap((block) => {
      const length = Buffer.alloc(4);
      length.writeInt32BE(block.length);
      return [length, block];
    });
    return Buffer.concat([header, ...parts]);
  }

  test('are one, or as many as Java has written', () => {
    expect(snappyBlocks(plain, 1000)).toEqual([plain]);
    expect(snappyBlocks(javaStream(plain, plain), 1000)).toEqual([plain, plain]);
    expect(snappyBlocks(javaStream(), 1000)).toEqual([]);
  });

  test('are refused before they are inflated where they say too much, or nothing', () => {
    expect(() => snappyBlocks(javaStream(plain, plain), 35)).toThrow('36 bytes, at most 35 are allowed');
    expect(() => snappyBlocks(Buffer.from([0xff, 0xff, 0xff, 0xff, 0x0f]), 1000)).toThrow('4294967295 bytes');
    expect(() => snappyBlocks(Buffer.alloc(0), 1000)).toThrow('a block without a length');
    expect(() => snappyBlocks(Buffer.alloc(6, 0xff), 1000)).toThrow('a block without a length');
    expect(() => snappyBlocks(javaStream(plain).subarray(0, -1), 1000)).toThrow(`a block of ${plain.length} bytes`);
    expect(() => snappyBlocks(javaStream(plain).fill(0xff, 16, 20), 1000)).toThrow('a block of -1 bytes');
  });
});

test('a frame of LZ4 inflates to no more than its blocks may hold', () => {
  for (const size of [0, 1, 60_000, 70_000, 300_000]) {
    const frame = lz4.compressFrameSync(Buffer.alloc(size));
    expect(lz4BytesMax(frame)).toBeGreaterThanOrEqual(size);
    expect(lz4BytesMax(frame)).toBeLessThanOrEqual(4 * 1024 * 1024);
  }
  const checked = lz4.compressFrameSync(randomBytes(200_000), { blockChecksums: true, contentChecksum: true });
  expect(lz4BytesMax(checked)).toBeGreaterThanOrEqual(200_000);
  expect(() => lz4BytesMax(Buffer.from('no frame at all'))).toThrow('no frame of LZ4');
});

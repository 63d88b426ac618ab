import * as zlib from 'node:zlib';
import { requireFromHere } from '../../base/package/require-from-here.js';
import { TopicUnusable } from '../remote/topic-unusable.js';
import { lz4BytesMax } from './lz4-frame.js';
import { snappyBlocks } from './snappy-blocks.js';

/** Numbers of codecs in record batches. */
export const CODEC_NUMBERS = { none: 0, gzip: 1, snappy: 2, lz4: 3, zstd: 4 } as const;
export type Compression = keyof typeof CODEC_NUMBERS;

export interface Codec {
  compress(bytes: Buffer): Buffer;
  /** Inflates; throws where bytes make no sense, or exceed `INFLATED_BYTES_MAX`. */
  inflate(bytes: Buffer): Buffer;
}

/** Most bytes of an inflated record batch; our writers send half a MiB (outbox.ts). */
export const INFLATED_BYTES_MAX = 4 * 1024 * 1024;

/**
 * Returns a codec; null = Kafka has none. Throws TOPIC_CODEC_MISSING for a missing package, or zstd before Node.js
 * 22.15 and 23.8: skipping what others read would be another log.
 */
export function codecOf(number: number): Codec | null {
  const name = NAMES[number];
  if (name === undefined) return null;
  const loaded = LOADED.get(name) ?? LOADERS[name]();
  LOADED.set(name, loaded);
  return loaded;
}

/** Table in which kafkajs looks for codecs of writes. */
export type KafkajsCodecs = Record<number, () => { compress(encoder: { readonly buffer: Buffer }): Promise<Buffer> }>;

/** Gives kafkajs the codecs that it lacks. */
export function addCodecs(codecs: KafkajsCodecs): void {
  for (const number of [CODEC_NUMBERS.snappy, CODEC_NUMBERS.lz4, CODEC_NUMBERS.zstd]) {
    codecs[number] = () => ({ compress: async ({ buffer }) => codecOf(number)!.compress(buffer) });
  }
}

const NAMES: Readonly<Record<number, Exclude<Compression, 'none'>>> = { 1: 'gzip', 2: 'snappy', 3: 'lz4', 4: 'zstd' };
const LOADED = new Map<Compression, Codec>();

const LOADERS: Readonly<Record<Exclude<Compression, 'none'>, () => Codec>> = {
  gzip: () => ({
    compress: (bytes) => zlib.gzipSync(bytes),
    inflate: (bytes) => zlib.gunzipSync(bytes, { maxOutputLength: INFLATED_BYTES_MAX }),
  }),
  snappy: () => {
    const snappy = optional<typeof import('snappy')>('snappy', 'snappy');
    const inflateBlock = (block: Buffer) => snappy.uncompressSync(block, { asBuffer: true }) as Buffer;
    return {
      compress: (bytes) => snappy.compressSync(bytes),
      inflate: (bytes) => Buffer.concat(snappyBlocks(bytes, INFLATED_BYTES_MAX).map(inflateBlock)),
    };
  },
  lz4: () => {
    const lz4 = optional<typeof import('lz4-napi')>('lz4', 'lz4-napi');
    return {
      compress: (bytes) => lz4.compressFrameSync(bytes),
      inflate: (bytes) => {
        const most = lz4BytesMax(bytes);
        if (most > INFLATED_BYTES_MAX)
          throw new Error(`up to ${most} bytes, at most ${INFLATED_BYTES_MAX} are allowed`);
        return lz4.decompressFrameSync(bytes);
      },
    };
  },
  zstd: () => {
    const { zstdCompressSync: compress, zstdDecompressSync: inflate } = zlib as Partial<Zstd>;
    if (compress === undefined || inflate === undefined) throw missing('zstd', 'Node.js 22.15 or newer');
    return { compress, inflate: (bytes) => inflate(bytes, { maxOutputLength: INFLATED_BYTES_MAX }) };
  },
};

/** Types of zstd, which Node.js 20 lacks. */
interface Zstd {
  zstdCompressSync(bytes: Buffer): Buffer;
  zstdDecompressSync(bytes: Buffer, options: { readonly maxOutputLength: number }): Buffer;
}

function optional<Package>(codec: Compression, name: string): Package {
  try {
    return requireFromHere(name) as Package;
  } catch (cause) {
    throw missing(codec, `the package ${name} (npm install ${name})`, cause);
  }
}

function missing(codec: Compression, needed: string, cause?: unknown): TopicUnusable {
  return new TopicUnusable('TOPIC_CODEC_MISSING', { codec, needed }, { cause });
}

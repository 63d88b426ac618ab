/**
 * `npm run bench:codecs [-- ROUNDS]`: bytes of record batches of reports, and CPU that compressing and inflating them takes
 * (setting topic.compression). Least, median and most of the rounds, in turn; user and system time of this process.
 */

import { groupIdOf, nodeKeyOf } from '../src/core/base/ids.js';
import { NOTHING_REPORTED, type TopicRecord } from '../src/core/base/protocol/record.js';
import { RecordCodec } from '../src/topic/codec/record-codec.js';
import { CODEC_NUMBERS, type Codec, type Compression, codecOf } from '../src/topic/codecs/codecs.js';

const rounds = Number(process.argv[2] ?? 15);
/** Each round takes so many bytes through each codec. */
const BYTES_PER_ROUND = 4_000_000;

/** Reports as a node writes them: ids and rates, which look random. */
function batchOf(reports: number): Buffer {
  const codec = new RecordCodec('bench');
  const values = Array.from({ length: reports }, (_, at) => codec.encode(report(at)));
  return Buffer.concat(values);
}

function report(at: number): TopicRecord {
  const author = { nodeKey: nodeKeyOf('bench', `node-${at % 100}`), incarnation: 65_537, sequence: 1234 + at };
  const rows = Array.from({ length: 6 }, (_, row) => {
    const usage = 1 + ((at * 7919 + row * 104_729) % 10_007) / 13;
    return {
      ...NOTHING_REPORTED,
      groupId: groupIdOf('bench', `group-${at * 6 + row}`),
      direction: 0,
      topics: 3,
      usageMessages: usage,
      usageBytes: usage * 517.3,
      demandMessages: usage * 1.13,
      demandBytes: usage * 584.5,
      shareMessages: usage * 1.5,
      shareBytes: usage * 776,
    };
  });
  return { kind: 'report', author, rows };
}

function here(): [Compression, Codec][] {
  return (['gzip', 'snappy', 'lz4', 'zstd'] as const).flatMap((name): [Compression, Codec][] => {
    try {
      return [[name, codecOf(CODEC_NUMBERS[name]) as Codec]];
    } catch (error) {
      console.log(`without ${name}: ${(error as Error).message}`);
      return [];
    }
  });
}

const codecs = here();
console.log(`${rounds} rounds; µs of CPU per batch, min/median/max`);
console.log('batch                codec    bytes     %    compress                inflate');
for (const [what, reports] of [
  ['1 report of 6', 1],
  ['10 reports of 6', 10],
  ['2,000 (half a MiB)', 2000],
] as const) {
  const plain = batchOf(reports);
  const times = Math.max(1, Math.round(BYTES_PER_ROUND / plain.length / 10));
  const packed = codecs.map(([, codec]) => codec.compress(plain));
  const compress = codecs.map((): number[] => []);
  const inflate = codecs.map((): number[] => []);
  for (let round = 0; round < rounds; round++) {
    codecs.forEach(([, codec], at) => {
      compress[at].push(cpuOf(times, () => codec.compress(plain)));
      inflate[at].push(cpuOf(times, () => codec.inflate(packed[at])));
    });
  }
  console.log(`${what.padEnd(20)} none    ${String(plain.length).padStart(6)}   100`);
  codecs.forEach(([name], at) => {
    const bytes = packed[at].length;
    const part = ((100 * bytes) / plain.length).toFixed(0).padStart(5);
    const figures = [compress[at], inflate[at]].map(spread).join('  ');
    console.log(`${''.padEnd(20)} ${name.padEnd(7)} ${String(bytes).padStart(6)} ${part}    ${figures}`);
  });
}

/** µs of user and system time, each. */
function cpuOf(times: number, run: () => void): number {
  const before = process.cpuUsage();
  for (let at = 0; at < times; at++) run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / times;
}

function spread(values: number[]): string {
  const sorted = values.sort((one, other) => one - other);
  const shown = [sorted[0], sorted[Math.floor(sorted.length / 2)], sorted.at(-1)] as number[];
  return shown
    .map((value) => value.toFixed(1))
    .join('/')
    .padEnd(22);
}

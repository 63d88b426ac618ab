import type { Readable } from 'node:stream';
import { crc32 } from 'node:zlib';
import { z } from 'zod';
import { QuotameshError } from '../../base/errors/quotamesh-error.js';
import type { ReadRecord } from '../../base/ports/report-topic.js';
import { KeyPattern } from '../../core/account/keys/key-pattern.js';
import { LIMITING_MODES, LIMITING_SPLITS } from '../../core/base/settings.js';
import {
  decodeEnd,
  decodeEpoch,
  decodeHeader,
  decodeRecord,
  FRAME_HEAD_BYTES,
  KIND_CAUGHT_UP,
  KIND_END,
  KIND_EPOCH,
  KIND_HEADER,
  KIND_RECORD,
  PAYLOAD_BYTES_MAX,
  RECORDING_MAGIC,
  type RecordingHeader,
} from './recording-format.js';

export type RecordingEntry = ReadRecord | EpochEntry | 'caught-up';

/** Marks the log of the entries that follow. */
interface EpochEntry {
  readonly epoch: string;
}

/** End of a recording, known when all entries are read. */
interface RecordingEnd {
  /** True = the recorder closed it: nothing is missing. */
  isClosed: boolean;
  /** Byte and reason of the stop; null = the end of the file. */
  damage: { readonly atByte: number; readonly reason: string; readonly bytesLost: number } | null;
}

export interface Recording {
  readonly header: RecordingHeader;
  readonly entries: AsyncIterable<RecordingEntry>;
  readonly end: RecordingEnd;
}

/**
 * Reads a recording as a stream. Rejects with RECORDING_UNREADABLE without a header; later damage ends the entries, and
 * stands in `end`, as shares behind a gap would be wrong.
 */
export async function readRecording(input: Readable, file: string): Promise<Recording> {
  const end: RecordingEnd = { isClosed: false, damage: null };
  const frames = framesOf(input, end);
  const first = await frames.next();
  if (first.done) throw unreadable(file, end.damage?.reason ?? 'it is empty');
  const header = headerFrom(first.value, file);
  return { header, entries: entriesOf(frames, end), end };
}

interface Frame {
  readonly payload: Buffer;
  readonly atByte: number;
}

async function* entriesOf(frames: AsyncGenerator<Frame>, end: RecordingEnd): AsyncGenerator<RecordingEntry> {
  let records = 0;
  for await (const { payload, atByte } of frames) {
    const kind = payload[0];
    if (kind === KIND_CAUGHT_UP) yield 'caught-up';
    else if (kind === KIND_EPOCH) yield { epoch: decodeEpoch(payload) };
    else if (kind === KIND_END) {
      const told = decodeEnd(payload);
      end.isClosed = told === records;
      if (!end.isClosed) {
        end.damage = { atByte, reason: `it holds ${records} records, its end tells ${told ?? 'none'}`, bytesLost: 0 };
      }
    } else {
      const record = kind === KIND_RECORD ? decodeRecord(payload) : null;
      if (record === null) {
        end.damage = { atByte, reason: `a frame of kind ${kind} is malformed`, bytesLost: payload.length };
        return;
      }
      records++;
      yield record;
    }
  }
}

/** Yields whole frames with fitting checksums; the rest is only counted. */
async function* framesOf(input: Readable, end: RecordingEnd): AsyncGenerator<Frame> {
  let waiting: Buffer = Buffer.alloc(0);
  let atByte = 0;
  let reason: string | null = null;
  let hasMagic = false;
  for await (const chunk of input as AsyncIterable<Buffer>) {
    waiting = waiting.length === 0 ? chunk : Buffer.concat([waiting, chunk]);
    if (reason !== null) {
      end.damage = { atByte, reason, bytesLost: (end.damage?.bytesLost ?? 0) + chunk.length };
      waiting = EMPTY;
      continue;
    }
    if (!hasMagic && waiting.length >= RECORDING_MAGIC.length) {
      if (!waiting.subarray(0, RECORDING_MAGIC.length).equals(RECORDING_MAGIC))
        reason = 'it does not begin like a recording';
      hasMagic = true;
      waiting = waiting.subarray(RECORDING_MAGIC.length);
      atByte = RECORDING_MAGIC.length;
    }
    while (hasMagic && reason === null) {
      const payload = nextPayload(waiting);
      if (payload === null) break;
      if (typeof payload === 'string') {
        reason = payload;
        break;
      }
      yield { payload, atByte };
      const length = FRAME_HEAD_BYTES + payload.length;
      waiting = waiting.subarray(length);
      atByte += length;
    }
    if (reason !== null) end.damage = { atByte, reason, bytesLost: waiting.length };
  }
  if (reason === null && waiting.length > 0) {
    end.damage = { atByte, reason: 'the file ends within a frame', bytesLost: waiting.length };
  }
}

/** Returns the first payload; null = more bytes are needed; a text = its fault. */
function nextPayload(bytes: Buffer): Buffer | string | null {
  if (bytes.length < FRAME_HEAD_BYTES) return null;
  const length = bytes.readUInt32BE(0);
  if (length === 0 || length > PAYLOAD_BYTES_MAX) return `a frame claims ${length} bytes`;
  if (bytes.length < FRAME_HEAD_BYTES + length) return null;
  const payload = bytes.subarray(FRAME_HEAD_BYTES, FRAME_HEAD_BYTES + length);
  return crc32(payload) === bytes.readUInt32BE(4) ? payload : 'a checksum does not fit';
}

const EMPTY = Buffer.alloc(0);

const LIMITING = z.object({
  mode: z.enum(LIMITING_MODES),
  split: z.enum(LIMITING_SPLITS),
  zonesLeftOut: z.int().min(0),
  contributionRatio: z.number().min(0).max(1),
  healthValidMs: z.number().positive(),
  levelSmoothingMs: z.number().min(0),
  maxBackends: z.int().min(1),
});

const GROUP = z.looseObject({ name: z.string().min(1), strategy: z.string() });

/** Header of a recording; groups and timing are the replayer's to judge. */
const HEADER = z.object({
  format: z.literal(1),
  cluster: z.string().min(1),
  version: z.string(),
  topic: z.string(),
  startedAt: z.string(),
  partitions: z.int().min(1).max(16),
  timing: z.record(z.string(), z.number()),
  limiting: LIMITING,
  groups: z.array(GROUP),
  keys: z.array(
    z.object({
      pattern: z.string().refine((text) => typeof KeyPattern.of(text) !== 'string', 'is no pattern of keys'),
      group: GROUP,
      overrides: z.array(GROUP),
    }),
  ),
});

function headerFrom({ payload }: Frame, file: string): RecordingHeader {
  let content: unknown;
  try {
    content = payload[0] === KIND_HEADER ? decodeHeader(payload) : null;
  } catch (error) {
    throw unreadable(file, `its header is no JSON (${(error as Error).message})`);
  }
  const checked = HEADER.safeParse(content);
  if (checked.success) {
    const { groups, keys } = checked.data as unknown as Pick<RecordingHeader, 'groups' | 'keys'>;
    return { ...checked.data, groups, keys };
  }
  const [issue] = checked.error.issues;
  throw unreadable(file, `its header is of another version (${issue?.path.join('.')}: ${issue?.message})`);
}

function unreadable(file: string, reason: string): QuotameshError {
  return new QuotameshError('RECORDING_UNREADABLE', { file, reason });
}

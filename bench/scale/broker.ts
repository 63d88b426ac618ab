import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { createServer, type Server, type Socket } from 'node:net';
import type { AppendRecord } from '../../src/base/ports/report-topic.js';
import { loadKafkajs } from '../../src/topic/kafka/kafkajs-internals.js';
import { CREATED_WITH } from '../../src/topic/kafka/topic-settings.js';

export const TOPIC = 'quotamesh-reports';
const GZIP = 1;

interface Encoder {
  readonly buffer: Buffer;
  writeInt8(value: number): Encoder;
  writeInt16(value: number): Encoder;
  writeInt32(value: number): Encoder;
  writeInt64(value: number): Encoder;
  writeString(value: string | null): Encoder;
  writeBoolean(value: boolean): Encoder;
}

const kafkajs = loadKafkajs();
const requireFromHere = createRequire(import.meta.url);
const EncoderClass = requireFromHere('kafkajs/src/protocol/encoder') as new () => Encoder;
type ProduceRequest = (args: object) => { encode(): Promise<Encoder> };
const produceRequest = requireFromHere('kafkajs/src/protocol/requests/produce/v7/request') as ProduceRequest;

/** The batch that kafkajs writes for these records, byte by byte: it is the end of its produce request. */
export async function batchOf(records: readonly AppendRecord[], compression: 'none' | 'gzip'): Promise<Buffer> {
  const messages = records.map(({ key, value }) => ({ key, value: value && Buffer.from(value) }));
  const topicData = [{ topic: TOPIC, partitions: [{ partition: 0, firstSequence: 0, messages }] }];
  const request = { acks: -1, timeout: 1000, compression: compression === 'gzip' ? GZIP : 0, topicData };
  return batchIn((await produceRequest(request).encode()).buffer, 0);
}

/** transactional id, acks 2, timeout 4, one topic 4, its name, one partition 4, its number 4, length 4, batch */
function batchIn(request: Buffer, from: number): Buffer {
  const afterId = from + 2 + Math.max(0, request.readInt16BE(from));
  const afterName = afterId + 2 + 4 + 4 + 2 + request.readInt16BE(afterId + 10);
  const length = request.readInt32BE(afterName + 8);
  return Buffer.from(request.subarray(afterName + 12, afterName + 12 + length));
}

// Layout of a batch: offset 8, length 4, leader epoch 4, magic 1, CRC 4, attributes 2, last offset delta 4, times 8 + 8.
const ATTRIBUTES_AT = 21;
const LAST_OFFSET_DELTA_AT = 23;
const MAX_TIMESTAMP_AT = 35;
const LOG_APPEND_TIME = 0x08;

interface Stored {
  readonly firstOffset: number;
  readonly bytes: Buffer;
}

/** A fetch that waits for enough bytes. */
interface Held {
  readonly offset: number;
  readonly minBytes: number;
  readonly answer: () => void;
  readonly timer: NodeJS.Timeout;
}

/**
 * As much of Kafka as the adapter needs to read one partition: a log of batches, stamped and numbered as a broker does,
 * and answers that are held back until there is news. A real broker would take the core that the reading node is measured
 * on. What crosses the socket is what Kafka sends.
 */
export class LogServer {
  /** Counts of what went out: whole answers, and the record batches within them. */
  readonly sent = { batchBytes: 0, bytes: 0, answers: 0, records: 0 };
  readonly #batches: Stored[] = [];
  #end = 0;
  #first = 0;
  #held: Held[] = [];
  readonly #server: Server = createServer((socket) => this.#serve(socket));
  readonly #sockets = new Set<Socket>();

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => {
      this.#server.listen(0, '127.0.0.1', resolve);
    });
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
  }

  /** @returns the offset of the batch */
  append(batch: Buffer): number {
    const firstOffset = this.#end;
    batch.writeBigInt64BE(BigInt(firstOffset), 0);
    batch.writeInt16BE(batch.readInt16BE(ATTRIBUTES_AT) | LOG_APPEND_TIME, ATTRIBUTES_AT);
    batch.writeBigInt64BE(BigInt(Date.now()), MAX_TIMESTAMP_AT);
    this.#end += batch.readInt32BE(LAST_OFFSET_DELTA_AT) + 1;
    this.#batches.push({ firstOffset, bytes: batch });
    for (const held of this.#held) if (this.#available(held.offset) >= held.minBytes) this.#release(held);
    return firstOffset;
  }

  #serve(socket: Socket): void {
    this.#sockets.add(socket);
    socket.setNoDelay(true);
    socket.on('error', () => {});
    let unread = Buffer.alloc(0);
    socket.on('data', (chunk) => {
      unread = Buffer.concat([unread, chunk]);
      while (unread.length >= 4 && unread.length >= 4 + unread.readInt32BE(0)) {
        const request = unread.subarray(4, 4 + unread.readInt32BE(0));
        unread = unread.subarray(4 + request.length);
        this.#handle(request, socket);
      }
    });
  }

  #handle(request: Buffer, socket: Socket): void {
    const api = request.readInt16BE(0);
    const correlation = request.readInt32BE(4);
    const body = 10 + Math.max(0, request.readInt16BE(8));
    const reply = (...parts: Buffer[]) => {
      const length = 4 + parts.reduce((sum, part) => sum + part.length, 0);
      const head = Buffer.alloc(8);
      head.writeInt32BE(length, 0);
      head.writeInt32BE(correlation, 4);
      socket.write(Buffer.concat([head, ...parts]));
    };
    const { apiKeys } = kafkajs;
    if (api === apiKeys.Fetch) this.#fetch(request, body, reply);
    else if (api === apiKeys.Produce) reply(produced(this.append(batchIn(request, body))));
    else if (api === apiKeys.ListOffsets) reply(listed(request.includes(EARLIEST, body) ? 0 : this.#end));
    else if (api === apiKeys.Metadata) reply(metadata((this.#server.address() as AddressInfo).port));
    else if (api === apiKeys.DescribeConfigs) reply(configs());
    else reply(versions());
  }

  /** replica 4, max wait 4, min bytes 4, max bytes 4, isolation 1, session 4, epoch 4, topics 4, name, partitions 4, … */
  #fetch(request: Buffer, body: number, reply: (...parts: Buffer[]) => void): void {
    const maxWaitMs = request.readInt32BE(body + 4);
    const afterName = body + 29 + 2 + request.readInt16BE(body + 29);
    // partition 4, leader epoch 4, offset 8
    const offset = Number(request.readBigInt64BE(afterName + 4 + 8));
    const minBytes = request.readInt32BE(body + 8);
    const answer = () => this.#answer(offset, reply);
    if (maxWaitMs === 0 || this.#available(offset) >= minBytes) {
      answer();
      return;
    }
    const held = { offset, minBytes, answer, timer: setTimeout(() => this.#release(held), maxWaitMs) };
    this.#held.push(held);
  }

  #available(offset: number): number {
    let bytes = 0;
    for (let at = this.#batches.length - 1; at >= 0; at--) {
      const batch = this.#batches[at];
      if (batch.firstOffset < offset) break;
      bytes += batch.bytes.length;
    }
    return bytes;
  }

  #release(held: Held): void {
    clearTimeout(held.timer);
    this.#held = this.#held.filter((each) => each !== held);
    held.answer();
  }

  #answer(offset: number, reply: (...parts: Buffer[]) => void): void {
    const batches: Buffer[] = [];
    let bytes = 0;
    while ((this.#batches[this.#first]?.firstOffset ?? Infinity) < offset) this.#first++;
    for (let at = this.#first; at < this.#batches.length && bytes < 256 * 1024; at++) {
      const batch = this.#batches[at].bytes;
      batches.push(batch);
      bytes += batch.length;
      this.sent.records += batch.readInt32BE(LAST_OFFSET_DELTA_AT) + 1;
    }
    const head = fetched(this.#end, bytes);
    this.sent.answers++;
    this.sent.batchBytes += bytes;
    this.sent.bytes += 8 + head.length + bytes;
    reply(head, ...batches);
  }
}

const EARLIEST = Buffer.alloc(8);
EARLIEST.writeBigInt64BE(-2n);

function encoder(): Encoder {
  return new EncoderClass();
}

function fetched(end: number, bytes: number): Buffer {
  const head = encoder().writeInt32(0).writeInt16(0).writeInt32(0).writeInt32(1).writeString(TOPIC).writeInt32(1);
  return head
    .writeInt32(0)
    .writeInt16(0)
    .writeInt64(end)
    .writeInt64(end)
    .writeInt64(0)
    .writeInt32(-1)
    .writeInt32(-1)
    .writeInt32(bytes).buffer;
}

function produced(offset: number): Buffer {
  const head = encoder().writeInt32(1).writeString(TOPIC).writeInt32(1).writeInt32(0).writeInt16(0);
  return head.writeInt64(offset).writeInt64(Date.now()).writeInt64(0).writeInt32(0).buffer;
}

function listed(offset: number): Buffer {
  const head = encoder().writeInt32(0).writeInt32(1).writeString(TOPIC).writeInt32(1).writeInt32(0).writeInt16(0);
  return head.writeInt64(-1).writeInt64(offset).buffer;
}

function metadata(port: number): Buffer {
  const head = encoder().writeInt32(0).writeInt32(1).writeInt32(0).writeString('127.0.0.1').writeInt32(port);
  head.writeString(null).writeString('bench').writeInt32(0).writeInt32(1).writeInt16(0).writeString(TOPIC);
  head.writeBoolean(false).writeInt32(1).writeInt16(0).writeInt32(0).writeInt32(0);
  return head.writeInt32(1).writeInt32(0).writeInt32(1).writeInt32(0).writeInt32(0).buffer;
}

function configs(): Buffer {
  const entries = Object.entries(CREATED_WITH);
  const head = encoder().writeInt32(0).writeInt32(1).writeInt16(0).writeString(null).writeInt8(2).writeString(TOPIC);
  head.writeInt32(entries.length);
  for (const [name, value] of entries) {
    head.writeString(name).writeString(value).writeBoolean(false).writeInt8(1).writeBoolean(false).writeInt32(0);
  }
  return head.buffer;
}

function versions(): Buffer {
  const { apiKeys } = kafkajs;
  const served = [
    [apiKeys.Produce, 7],
    [apiKeys.Fetch, 11],
    [apiKeys.ListOffsets, 2],
    [apiKeys.Metadata, 5],
    [apiKeys.DescribeConfigs, 1],
  ] as const;
  const head = encoder()
    .writeInt16(0)
    .writeInt32(served.length + 1)
    .writeInt16(18)
    .writeInt16(0)
    .writeInt16(2);
  for (const [api, version] of served) head.writeInt16(api).writeInt16(version).writeInt16(version);
  return head.writeInt32(0).buffer;
}

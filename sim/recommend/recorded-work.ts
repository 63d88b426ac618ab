import { QuotameshError } from '../../src/base/errors/quotamesh-error.js';
import type { TraceArrival } from '../replay/trace.js';

/** Recorded work in columns, in time order, for repeated plays: 32 bytes a piece. */
export interface RecordedWork {
  readonly count: number;
  readonly nodes: number;
  readonly atMs: Float64Array;
  readonly node: Uint16Array;
  readonly messages: Float64Array;
  readonly bytes: Float64Array;
  readonly key: Uint32Array;
  /** Keys with quotas apart; one nameless = one quota. */
  readonly keys: readonly string[];
}

/** Pieces: 64 MB, and half a minute per tried quota. */
const WORK_MAX = 2_000_000;

/** Collects work. Throws USAGE where it is too much. */
export async function collectWork(arrivals: AsyncIterable<TraceArrival>): Promise<RecordedWork> {
  let columns = createColumns(1024);
  let [count, nodes] = [0, 1];
  const keys = new Map<string, number>();
  for await (const { atMs, node, messages, bytes, key } of arrivals) {
    if (count === WORK_MAX) {
      const reason = `there are more than ${WORK_MAX} pieces of work, and each is played many times: record less, or cut the file`;
      throw new QuotameshError('USAGE', { reason });
    }
    if (count === columns.atMs.length) columns = grown(columns);
    columns.atMs[count] = atMs;
    columns.node[count] = node;
    columns.messages[count] = messages;
    columns.bytes[count] = bytes;
    const keyAt = keys.get(key) ?? keys.size;
    keys.set(key, keyAt);
    columns.key[count] = keyAt;
    nodes = Math.max(nodes, node + 1);
    count++;
  }
  return { ...columns, count, nodes, keys: [...keys.keys()] };
}

export async function* arrivalsOf(work: RecordedWork): AsyncGenerator<TraceArrival> {
  const { count, atMs, node, messages, bytes, key, keys } = work;
  for (let at = 0; at < count; at++) {
    yield {
      atMs: atMs[at],
      node: node[at],
      messages: messages[at],
      bytes: bytes[at],
      key: keys[key[at]],
      retryAfterMs: 0,
      line: at + 1,
    };
  }
}

function createColumns(length: number) {
  return {
    atMs: new Float64Array(length),
    node: new Uint16Array(length),
    messages: new Float64Array(length),
    bytes: new Float64Array(length),
    key: new Uint32Array(length),
  };
}

function grown(before: ReturnType<typeof createColumns>) {
  const columns = createColumns(before.atMs.length * 2);
  columns.atMs.set(before.atMs);
  columns.node.set(before.node);
  columns.messages.set(before.messages);
  columns.bytes.set(before.bytes);
  columns.key.set(before.key);
  return columns;
}

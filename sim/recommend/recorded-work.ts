import { QuotameshError } from '../../src/errors/quotamesh-error.js';
import type { TraceArrival } from '../replay/trace.js';

/** Recorded work in columns, in order of time, so that it can be played again and again: 28 bytes a piece. */
export interface RecordedWork {
  readonly count: number;
  readonly nodes: number;
  readonly atMs: Float64Array;
  readonly node: Uint16Array;
  readonly messages: Float64Array;
  readonly bytes: Float64Array;
}

/** 56 MB, and about half a minute of one core for every quota that is tried. */
export const WORK_MAX = 2_000_000;

/** Throws USAGE where there is more than fits. */
export async function collectWork(arrivals: AsyncIterable<TraceArrival>): Promise<RecordedWork> {
  let columns = createColumns(1024);
  let [count, nodes] = [0, 1];
  for await (const { atMs, node, messages, bytes } of arrivals) {
    if (count === WORK_MAX) {
      const reason = `there are more than ${WORK_MAX} pieces of work, and each is played many times: record less, or cut the file`;
      throw new QuotameshError('USAGE', { reason });
    }
    if (count === columns.atMs.length) columns = grown(columns);
    columns.atMs[count] = atMs;
    columns.node[count] = node;
    columns.messages[count] = messages;
    columns.bytes[count] = bytes;
    nodes = Math.max(nodes, node + 1);
    count++;
  }
  return { ...columns, count, nodes };
}

/** The work as a trace. */
export async function* arrivalsOf({ count, atMs, node, messages, bytes }: RecordedWork): AsyncGenerator<TraceArrival> {
  for (let at = 0; at < count; at++) {
    yield {
      atMs: atMs[at] as number,
      node: node[at] as number,
      messages: messages[at] as number,
      bytes: bytes[at] as number,
      key: '',
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
  };
}

function grown(before: ReturnType<typeof createColumns>) {
  const columns = createColumns(before.atMs.length * 2);
  columns.atMs.set(before.atMs);
  columns.node.set(before.node);
  columns.messages.set(before.messages);
  columns.bytes.set(before.bytes);
  return columns;
}

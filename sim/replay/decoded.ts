import type { ReadRecord } from '../../src/base/ports/report-topic.js';
import type { ReadEvent } from '../../src/core/base/protocol/events-and-effects.js';
import type { RecordCodec } from '../../src/topic/codec/record-codec.js';

/** Decodes a recorded record; null = of another cluster or version. */
export function decoded({ partition, offset, appendMs, key, value }: ReadRecord, codec: RecordCodec): ReadEvent | null {
  if (value === null) return { partition, offset, appendMs, key, record: null };
  const result = codec.decode(value);
  return 'record' in result ? { partition, offset, appendMs, key, record: result.record } : null;
}

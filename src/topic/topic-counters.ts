import type { AppendRecord, TopicCounters } from '../base/ports/report-topic.js';

export function createTopicCounters(): TopicCounters {
  return {
    recordsRead: 0,
    bytesRead: 0,
    recordsAppended: 0,
    bytesAppended: 0,
    appendsFailed: 0,
    reconnects: 0,
    foreignEntries: 0,
    malformedAnswers: 0,
    throttledMs: 0,
  };
}

export function countRead(counters: TopicCounters, records: readonly AppendRecord[]): void {
  counters.recordsRead += records.length;
  for (const record of records) counters.bytesRead += sizeOf(record);
}

export function countAppended(counters: TopicCounters, records: readonly AppendRecord[]): void {
  counters.recordsAppended += records.length;
  for (const record of records) counters.bytesAppended += sizeOf(record);
}

export function sizeOf({ key, value }: AppendRecord): number {
  return Buffer.byteLength(key) + (value?.length ?? 0);
}

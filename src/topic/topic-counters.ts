import type { TopicCounters } from '../base/ports/report-topic.js';

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

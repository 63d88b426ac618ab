import type { NodeStatus } from '../api/node-status.js';
import type { TOPIC_METRICS } from './metric-table.js';
import type { Reading } from './metric-tables.js';

export function topicReadings(status: () => NodeStatus): Readonly<Record<keyof typeof TOPIC_METRICS, Reading>> {
  const counters = () => status().topic.counters;
  return {
    quotamesh_topic_records_read_total: (series) => series(counters().recordsRead),
    quotamesh_topic_read_bytes_total: (series) => series(counters().bytesRead),
    quotamesh_topic_records_appended_total: (series) => series(counters().recordsAppended),
    quotamesh_topic_appended_bytes_total: (series) => series(counters().bytesAppended),
    quotamesh_topic_appends_failed_total: (series) => series(counters().appendsFailed),
    quotamesh_topic_reconnects_total: (series) => series(counters().reconnects),
    quotamesh_topic_foreign_entries_total: (series) => series(counters().foreignEntries),
    quotamesh_topic_malformed_answers_total: (series) => series(counters().malformedAnswers),
    quotamesh_topic_throttled_seconds_total: (series) => series(counters().throttledMs / 1000),
    quotamesh_topic_records_ignored_total: (series) => {
      for (const [cause, count] of Object.entries(status().recordsIgnored)) series(count, { cause });
    },
    quotamesh_topic_pending_appends: (series) => series(status().topic.pendingAppends),
  };
}

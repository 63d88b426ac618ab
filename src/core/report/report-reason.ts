/**
 * Names why a report is written. A record has rows of several groups: it counts under the reason that made it due
 * first. Texts are those of the metric.
 */
export const REPORT_REASONS = {
  charge: 'what this node has taken of the bucket, or gives back, counts for the others',
  refused: 'it refuses work that its row does not announce',
  'rates-near-quota': 'the rates in its row are wrong, near the quota',
  'rates-far-below': 'the same far below the quota',
  change: 'the same where nodes have gates, ramps or usage to follow',
  overstated: 'its row announces more than it wants',
  step: 'the strategy goes on from what this node applies or takes',
  cost: 'what its work costs a backend',
  over: 'nothing is asked for any more, or the group is gone',
  forced: 'timing.forcedReportMs has passed',
  'came-back': 'this node joins, wakes, or reads its own records again',
  again: 'the log lacks or hides what was written',
  'new-log': 'the log has begun anew',
  stop: 'this node stops',
} as const;

export type ReportReason = keyof typeof REPORT_REASONS;

/** Counts reports by reason. */
export type ReportCounts = Record<ReportReason, number>;

export function noReports(): ReportCounts {
  const counts = Object.keys(REPORT_REASONS).map((reason) => [reason, 0]);
  return Object.fromEntries(counts) as ReportCounts;
}

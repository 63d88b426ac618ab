import type { ReportTopicListener } from '../base/ports/report-topic.js';

/** Passes every call on to a listener, but for those in `own`. */
export function passingTo(listener: ReportTopicListener, own: Partial<ReportTopicListener>): ReportTopicListener {
  return {
    onEpoch: (epoch) => listener.onEpoch(epoch),
    onRecords: (records) => listener.onRecords(records),
    onCaughtUp: () => listener.onCaughtUp(),
    onLost: (reason) => listener.onLost(reason),
    onRecovered: () => listener.onRecovered(),
    onFailed: (error) => listener.onFailed(error),
    ...own,
  };
}

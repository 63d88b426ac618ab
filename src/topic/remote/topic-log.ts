import type { TopicCounters } from '../../base/ports/report-topic.js';
import type { GuardedListener } from './guarded-listener.js';

/** Lets an adapter's parts count, and reports to node and people. */
export interface TopicVoice {
  /** Name in messages. */
  readonly store: string;
  readonly topic: string;
  readonly log: TopicLog;
  readonly counters: TopicCounters;
  readonly listener: GuardedListener;
}

/** Sink for lines of an adapter and its client; never the console. */
export type TopicLog = (
  level: 'debug' | 'info' | 'warn' | 'error',
  message: string,
  facts: Readonly<Record<string, unknown>>,
) => void;

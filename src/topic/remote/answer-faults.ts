import type { TopicCounters } from '../../base/ports/report-topic.js';
import { type AnswerFault, MalformedAnswer } from '../answers/malformed-answer.js';
import type { TopicLog } from './topic-log.js';

/** Counts malformed answers of a server, and logs the first of each cause. */
export class AnswerFaults {
  readonly #counters: TopicCounters;
  readonly #store: string;
  readonly #topic: string;
  readonly #log: TopicLog;
  readonly #told = new Set<AnswerFault>();

  constructor(counters: TopicCounters, store: string, topic: string, log: TopicLog) {
    this.#counters = counters;
    this.#store = store;
    this.#topic = topic;
    this.#log = log;
  }

  /** Counts a connection's end, if by a malformed answer. */
  ended(reason: unknown): void {
    if (!(reason instanceof MalformedAnswer)) return;
    this.#counters.malformedAnswers++;
    if (this.#told.has(reason.fault)) return;
    this.#told.add(reason.fault);
    this.#log('error', `${this.#store} has sent a ${reason.message}; further ones of this cause are only counted`, {
      topic: this.#topic,
      cause: reason.fault,
      remedy: `Check that the address is that of a ${this.#store}, and that nothing between changes what it sends.`,
    });
  }
}

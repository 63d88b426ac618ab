import { type AnswerFault, MalformedAnswer } from '../answers/malformed-answer.js';
import type { TopicVoice } from './topic-log.js';

/** Counts a server's malformed answers; logs the first of each cause. */
export class AnswerFaults {
  readonly #voice: Pick<TopicVoice, 'counters' | 'store' | 'topic' | 'log'>;
  readonly #told = new Set<AnswerFault>();

  constructor(voice: Pick<TopicVoice, 'counters' | 'store' | 'topic' | 'log'>) {
    this.#voice = voice;
  }

  /** Counts a connection's end, if by a malformed answer. */
  ended(reason: unknown): void {
    if (!(reason instanceof MalformedAnswer)) return;
    const { counters, store, topic, log } = this.#voice;
    counters.malformedAnswers++;
    if (this.#told.has(reason.fault)) return;
    this.#told.add(reason.fault);
    log('error', `${store} has sent a ${reason.message}; further ones of this cause are only counted`, {
      topic,
      cause: reason.fault,
      remedy: `Check that the address is that of a ${store}, and that nothing between changes what it sends.`,
    });
  }
}

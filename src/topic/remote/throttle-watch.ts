import type { QuotameshError } from '../../base/errors/quotamesh-error.js';
import type { TopicVoice } from './topic-log.js';

/** Milliseconds; shorter pauses delay a report by less than its round trip, and are only counted. */
const SHOWN_FROM_MS = 100;
/** Milliseconds after the last pause; under a quota they follow each other. */
const SHOWN_FOR_MS = 5000;

/** Watches for a quota of the store that holds requests back; logs its begin and end once. */
export class ThrottleWatch {
  readonly #voice: Pick<TopicVoice, 'counters' | 'topic' | 'log'>;
  #reason: string | null = null;
  #timer: NodeJS.Timeout | undefined;

  constructor(voice: Pick<TopicVoice, 'counters' | 'topic' | 'log'>) {
    this.#voice = voice;
  }

  /** Names quota and remedy; null = none. */
  get reason(): string | null {
    return this.#reason;
  }

  noted(throttleMs: number, throttled: QuotameshError): void {
    const { counters, log, topic } = this.#voice;
    counters.throttledMs += throttleMs;
    if (throttleMs < SHOWN_FROM_MS) return;
    const isNew = this.#reason === null;
    const { message, remedy } = throttled;
    const reason = `${message}, for ${throttleMs} ms`;
    this.#reason = `${reason}. ${remedy}`;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#ended(), throttleMs + SHOWN_FOR_MS).unref();
    if (!isNew) return;
    log('warn', `the topic is throttled: ${reason}; reports come late, and nodes may be isolated`, { topic, remedy });
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  #ended(): void {
    this.#reason = null;
    const { log, topic } = this.#voice;
    log('info', 'the topic is throttled no more', { topic });
  }
}

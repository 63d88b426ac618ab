import type { GuardedListener } from './guarded-listener.js';
import type { TopicLog } from './topic-log.js';
import type { TopicUnusable } from './topic-unusable.js';

/** Failures that somebody must repair: each kind is told once until all works again, and attempts go on. */
export class ToldFailure {
  readonly #listener: GuardedListener;
  readonly #log: TopicLog;
  readonly #topic: string;
  #code: string | null = null;

  constructor(listener: GuardedListener, log: TopicLog, topic: string) {
    this.#listener = listener;
    this.#log = log;
    this.#topic = topic;
  }

  tell(permanent: TopicUnusable): void {
    if (permanent.code === this.#code) return;
    this.#code = permanent.code;
    const { message, code, remedy } = permanent;
    this.#log('error', message, { code, remedy, topic: this.#topic });
    this.#listener.onFailed(permanent);
  }

  allWorks(): void {
    this.#code = null;
  }
}

import type { GuardedListener } from './guarded-listener.js';
import type { TopicLog } from './topic-log.js';
import type { TopicUnusable } from './topic-unusable.js';

/** Reports failures that somebody must repair, each kind once until all works again. */
export class ToldFailure {
  readonly #listener: GuardedListener;
  readonly #log: TopicLog;
  readonly #topic: string;
  #kind: string | null = null;

  constructor(listener: GuardedListener, log: TopicLog, topic: string) {
    this.#listener = listener;
    this.#log = log;
    this.#topic = topic;
  }

  tell(permanent: TopicUnusable): void {
    const { message, code, remedy, facts } = permanent;
    const kind = `${code} ${facts.operation ?? ''}`;
    if (kind === this.#kind) return;
    this.#kind = kind;
    this.#log('error', message, { code, remedy, topic: this.#topic });
    this.#listener.onFailed(permanent);
  }

  allWorks(): void {
    this.#kind = null;
  }
}

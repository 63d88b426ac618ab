import type { TopicVoice } from './topic-log.js';
import type { TopicUnusable } from './topic-unusable.js';

/** Reports failures that somebody must repair, each kind once until all works again. */
export class ToldFailure {
  readonly #voice: Pick<TopicVoice, 'listener' | 'log' | 'topic'>;
  #kind: string | null = null;

  constructor(voice: Pick<TopicVoice, 'listener' | 'log' | 'topic'>) {
    this.#voice = voice;
  }

  tell(permanent: TopicUnusable): void {
    const { message, code, remedy, facts } = permanent;
    const kind = `${code} ${facts.operation ?? ''}`;
    if (kind === this.#kind) return;
    this.#kind = kind;
    const { listener, log, topic } = this.#voice;
    log('error', message, { code, remedy, topic });
    listener.onFailed(permanent);
  }

  allWorks(): void {
    this.#kind = null;
  }
}

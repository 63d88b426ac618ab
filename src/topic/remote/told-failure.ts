import type { TopicVoice } from './topic-log.js';
import type { TopicUnusable } from './topic-unusable.js';

/** Reports lasting failures, each kind once until all works again. A kind is a code and a right. */
export class ToldFailure {
  readonly #voice: Pick<TopicVoice, 'listener' | 'log' | 'topic'>;
  readonly #told = new Set<string>();

  constructor(voice: Pick<TopicVoice, 'listener' | 'log' | 'topic'>) {
    this.#voice = voice;
  }

  tell(permanent: TopicUnusable): void {
    const { message, code, remedy, facts } = permanent;
    const kinds = `${facts.operation ?? ''}`.split(', ').map((operation) => `${code} ${operation}`);
    if (kinds.every((kind) => this.#told.has(kind))) return;
    for (const kind of kinds) this.#told.add(kind);
    const { listener, log, topic } = this.#voice;
    log('error', message, { code, remedy, topic });
    listener.onFailed(permanent);
  }

  allWorks(): void {
    this.#told.clear();
  }
}

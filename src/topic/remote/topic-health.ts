import type { TopicVoice } from './topic-log.js';

/**
 * Tracks if reads and appends work; reports each loss, and changes of its reason. Reads work when every leader has
 * answered since its last failure; appends, unless the last was refused. After a lost connection appends recover with
 * reads, or who waits for `onRecovered` would wait for ever.
 */
export class TopicHealth {
  readonly #voice: TopicVoice;
  readonly #reading = new Set<number>();
  #partitions = Infinity;
  #appendsRefused = false;
  /** Reason; null = all works. */
  #lost: string | null = null;

  constructor(voice: TopicVoice) {
    this.#voice = voice;
  }

  get isLost(): boolean {
    return this.#lost !== null;
  }

  partitionsKnown(count: number): void {
    this.#partitions = count;
  }

  reading(partition: number): void {
    this.#reading.add(partition);
    this.#update();
  }

  unreachable(reason: string): void {
    this.#lose(reason);
  }

  disconnected(partitions: readonly number[], reason: string): void {
    for (const partition of partitions) this.#reading.delete(partition);
    this.#appendsRefused = false;
    this.#lose(reason);
  }

  appended(): void {
    this.#appendsRefused = false;
    this.#update();
  }

  appendRefused(reason: string): void {
    this.#appendsRefused = true;
    this.#lose(reason);
  }

  #lose(reason: string): void {
    if (this.#lost === reason) return;
    const { store, topic, log, listener } = this.#voice;
    if (this.#lost === null) log('warn', `${store} topic lost: ${reason}`, { topic });
    this.#lost = reason;
    listener.onLost(reason);
  }

  #update(): void {
    if (this.#lost === null || this.#appendsRefused || this.#reading.size < this.#partitions) return;
    this.#lost = null;
    const { store, topic, log, listener, counters } = this.#voice;
    counters.reconnects++;
    log('info', `${store} topic works again`, { topic });
    listener.onRecovered();
  }
}

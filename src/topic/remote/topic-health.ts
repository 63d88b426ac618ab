import type { TopicCounters } from '../../base/ports/report-topic.js';
import type { GuardedListener } from './guarded-listener.js';
import type { TopicLog } from './topic-log.js';

/**
 * Tracks whether reads and appends work. The listener is called once per loss, and again where its reason becomes
 * another one. Reads work when every partition's leader has answered a fetch since its last failure; appends, unless
 * the broker refused the last one.
 *
 * After a lost connection appends count as working again with the reads: whoever waits for `onRecovered` before the
 * next append would otherwise wait for ever.
 */
export class TopicHealth {
  readonly #listener: GuardedListener;
  readonly #counters: TopicCounters;
  /** Kafka or Redis. */
  readonly #store: string;
  readonly #topic: string;
  readonly #log: TopicLog;
  readonly #reading = new Set<number>();
  #partitions = Infinity;
  #appendsRefused = false;
  /** Why it is lost now; null while all works. */
  #lost: string | null = null;

  constructor(
    listener: GuardedListener,
    counters: TopicCounters,
    { store, topic }: { readonly store: string; readonly topic: string },
    log: TopicLog,
  ) {
    this.#store = store;
    this.#listener = listener;
    this.#counters = counters;
    this.#topic = topic;
    this.#log = log;
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
    if (this.#lost === null) this.#log('warn', `${this.#store} topic lost: ${reason}`, { topic: this.#topic });
    this.#lost = reason;
    this.#listener.onLost(reason);
  }

  #update(): void {
    if (this.#lost === null || this.#appendsRefused || this.#reading.size < this.#partitions) return;
    this.#lost = null;
    this.#counters.reconnects++;
    this.#log('info', `${this.#store} topic works again`, { topic: this.#topic });
    this.#listener.onRecovered();
  }
}

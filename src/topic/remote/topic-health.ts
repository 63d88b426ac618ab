import type { TopicCounters } from '../../base/ports/report-topic.js';
import type { GuardedListener } from './guarded-listener.js';
import type { TopicLog } from './topic-log.js';

/**
 * Tracks if reads and appends work; reports each loss, and changes of its reason. Reads work when every leader has
 * answered since its last failure; appends, unless the last was refused. After a lost connection appends recover with
 * reads, or who waits for `onRecovered` would wait for ever.
 */
export class TopicHealth {
  readonly #listener: GuardedListener;
  readonly #counters: TopicCounters;
  readonly #store: string;
  readonly #topic: string;
  readonly #log: TopicLog;
  readonly #reading = new Set<number>();
  #partitions = Infinity;
  #appendsRefused = false;
  /** Reason; null = all works. */
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

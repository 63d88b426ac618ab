import type { ReadRecord, ReportTopicListener, TopicCounters } from '../../base/ports/report-topic.js';
import { countRead } from '../topic-counters.js';
import type { TopicLog, TopicVoice } from './topic-log.js';
import { reasonOf } from './topic-unusable.js';

/** Guards a listener as the port promises: no call after the end, and its errors hurt nobody. */
export class GuardedListener implements ReportTopicListener {
  readonly #listener: ReportTopicListener;
  readonly #counters: TopicCounters;
  readonly #log: TopicLog;
  #ended = false;
  #caughtUp = false;

  constructor(listener: ReportTopicListener, { counters, log }: Pick<TopicVoice, 'counters' | 'log'>) {
    this.#listener = listener;
    this.#counters = counters;
    this.#log = log;
  }

  end(): void {
    this.#ended = true;
  }

  /** Begins an epoch, which will catch up once more. */
  onEpoch(epoch: string): void {
    this.#caughtUp = false;
    this.#call('onEpoch', () => this.#listener.onEpoch(epoch));
  }

  onRecords(records: readonly ReadRecord[]): void {
    countRead(this.#counters, records);
    this.#call('onRecords', () => this.#listener.onRecords(records));
  }

  /** Passes the first call of an epoch. */
  onCaughtUp(): void {
    if (this.#caughtUp) return;
    this.#caughtUp = true;
    this.#call('onCaughtUp', () => this.#listener.onCaughtUp());
  }

  onLost(reason: string): void {
    this.#call('onLost', () => this.#listener.onLost(reason));
  }

  onRecovered(): void {
    this.#call('onRecovered', () => this.#listener.onRecovered());
  }

  onFailed(error: Error): void {
    this.#call('onFailed', () => this.#listener.onFailed(error));
  }

  #call(what: string, call: () => void): void {
    if (this.#ended) return;
    try {
      call();
    } catch (error) {
      this.#log('error', `a listener of the topic threw in ${what}`, { reason: reasonOf(error) });
    }
  }
}

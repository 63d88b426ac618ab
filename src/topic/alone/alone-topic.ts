import type {
  AppendRecord,
  RecordSignatures,
  ReportTopic,
  ReportTopicListener,
  TopicCounters,
} from '../../base/ports/report-topic.js';
import { createMemoryLog } from '../memory/memory-log.js';
import { MemoryTopic } from '../memory/memory-topic.js';

export const ALONE_EPOCH = 'alone';

export interface AloneTopicOptions {
  /** Partitions when this node last read the topic. */
  readonly partitions: number;
  /** Called after `patienceMs` without the topic; false = the start waits on. */
  readonly patienceMs: number;
  readonly mayBeginAlone: () => boolean;
  /** Makes the error for another number of partitions. */
  readonly partitionsDiffer: (found: number) => Error;
}

/**
 * Lets a node begin without its topic, with a log of its own after some patience. The topic is then another epoch: the
 * node holds its share until it has read it, so nobody rises (docs/decisions/0047-epochs.md).
 */
export class AloneTopic implements ReportTopic {
  readonly #topic: ReportTopic;
  readonly #options: AloneTopicOptions;
  #own: MemoryTopic | null = null;
  #groupsKnown: Promise<unknown> = Promise.resolve();
  #isClosed = false;
  #endPatience: () => void = () => undefined;

  constructor(topic: ReportTopic, options: AloneTopicOptions) {
    this.#topic = topic;
    this.#options = options;
  }

  get partitions(): number {
    return this.#own?.partitions ?? this.#topic.partitions;
  }

  get partitionsFound(): number | undefined {
    return this.#own === null ? this.#topic.partitionsFound : undefined;
  }

  get throttled(): string | null {
    return this.#topic.throttled ?? null;
  }

  get counters(): TopicCounters {
    return this.#topic.counters;
  }

  get signatures(): RecordSignatures | undefined {
    return this.#topic.signatures;
  }

  /** Delays joining until groups are known, so that nothing shared is decided before. */
  waitFor(groupsKnown: Promise<unknown>): void {
    this.#groupsKnown = groupsKnown;
  }

  async open(listener: ReportTopicListener): Promise<void> {
    const held = new HeldListener(listener);
    let isOpen = false;
    const opened = this.#groupsKnown.then(async () => {
      if (this.#isClosed) return;
      await this.#topic.open(held);
      isOpen = true;
    });
    await Promise.race([opened, this.#patience()]);
    if (isOpen || this.#isClosed || !this.#options.mayBeginAlone()) {
      await opened;
      held.letGo();
      return;
    }
    const own = new MemoryTopic(createMemoryLog({ partitions: this.#options.partitions }));
    this.#own = own;
    await own.open(renamed(listener));
    opened
      .then(() => this.#follow(held, listener))
      .catch((error: Error) => {
        if (!this.#isClosed) listener.onFailed(error);
      });
  }

  append(records: readonly AppendRecord[]): Promise<void> {
    return (this.#own ?? this.#topic).append(records);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#endPatience();
    await Promise.all([this.#own?.close(), this.#topic.close()]);
  }

  async #follow(held: HeldListener, listener: ReportTopicListener): Promise<void> {
    if (this.#isClosed) return;
    const { partitions } = this.#options;
    const found = this.#topic.partitions;
    if (found !== partitions) {
      // Else the next recovery would end the failure.
      await this.#topic.close();
      listener.onFailed(this.#options.partitionsDiffer(found));
      return;
    }
    await this.#own?.close();
    this.#own = null;
    if (!this.#isClosed) held.letGo();
  }

  #patience(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, this.#options.patienceMs);
      this.#endPatience = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

/** Holds records until the node may read them; losses and recoveries pass at once. */
class HeldListener implements ReportTopicListener {
  readonly onLost: ReportTopicListener['onLost'];
  readonly onRecovered: ReportTopicListener['onRecovered'];
  readonly onFailed: ReportTopicListener['onFailed'];
  readonly #listener: ReportTopicListener;
  #calls: (() => void)[] | null = [];

  constructor(listener: ReportTopicListener) {
    this.#listener = listener;
    this.onLost = (reason) => listener.onLost(reason);
    this.onRecovered = () => listener.onRecovered();
    this.onFailed = (error) => listener.onFailed(error);
  }

  onEpoch(epoch: string): void {
    this.#say(() => this.#listener.onEpoch(epoch));
  }

  onRecords(...[records]: Parameters<ReportTopicListener['onRecords']>): void {
    this.#say(() => this.#listener.onRecords(records));
  }

  onCaughtUp(): void {
    this.#say(() => this.#listener.onCaughtUp());
  }

  letGo(): void {
    const calls = this.#calls ?? [];
    this.#calls = null;
    for (const call of calls) call();
  }

  #say(call: () => void): void {
    if (this.#calls === null) call();
    else this.#calls.push(call);
  }
}

/** Keeps the own log's losses from the listener: it never fails. */
function renamed(listener: ReportTopicListener): ReportTopicListener {
  return {
    onEpoch: () => listener.onEpoch(ALONE_EPOCH),
    onRecords: (records) => listener.onRecords(records),
    onCaughtUp: () => listener.onCaughtUp(),
    onLost: () => undefined,
    onRecovered: () => undefined,
    onFailed: (error) => listener.onFailed(error),
  };
}

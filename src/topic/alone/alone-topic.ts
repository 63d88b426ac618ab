import type {
  AppendRecord,
  RecordSignatures,
  ReportTopic,
  ReportTopicListener,
  TopicCounters,
} from '../../base/ports/report-topic.js';
import { createMemoryLog } from '../memory/memory-log.js';
import { MemoryTopic } from '../memory/memory-topic.js';
import { passingTo } from '../passing-listener.js';

export const ALONE_EPOCH = 'alone';

interface AloneTopicOptions {
  /** Partitions when this node last read the topic. */
  readonly partitions: number;
  /** Called after `patienceMs` without the topic; false = the start waits on. */
  readonly patienceMs: number;
  readonly mayBeginAlone: () => boolean;
  /** Makes the error for another number of partitions. */
  readonly partitionsDiffer: (found: number) => Error;
}

/**
 * Lets a node begin without its topic: with its own log, after some patience. The topic is then another epoch: the node
 * holds its share until it has read it, so nobody rises (docs/decisions/0047-epochs.md).
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

  /** Delays joining until groups are known: before, nothing shared is decided. */
  waitFor(groupsKnown: Promise<unknown>): void {
    this.#groupsKnown = groupsKnown;
  }

  async open(listener: ReportTopicListener): Promise<void> {
    const held = heldBack(listener);
    let isOpen = false;
    const opened = this.#groupsKnown.then(async () => {
      if (this.#isClosed) return;
      await this.#topic.open(held.listener);
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

interface HeldListener {
  readonly listener: ReportTopicListener;
  letGo(): void;
}

/** Holds records until the node may read them; losses and recoveries pass at once. */
function heldBack(listener: ReportTopicListener): HeldListener {
  let calls: (() => void)[] | null = [];
  const say = (call: () => void) => (calls === null ? call() : void calls.push(call));
  return {
    listener: passingTo(listener, {
      onEpoch: (epoch) => say(() => listener.onEpoch(epoch)),
      onRecords: (records) => say(() => listener.onRecords(records)),
      onCaughtUp: () => say(() => listener.onCaughtUp()),
    }),
    letGo: () => {
      const held = calls ?? [];
      calls = null;
      for (const call of held) call();
    },
  };
}

/** Keeps the own log's losses from the listener: it never fails. */
function renamed(listener: ReportTopicListener): ReportTopicListener {
  return passingTo(listener, {
    onEpoch: () => listener.onEpoch(ALONE_EPOCH),
    onLost: () => undefined,
    onRecovered: () => undefined,
  });
}

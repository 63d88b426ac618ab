/**
 * The topic as the runtime sees it: an ordered, compacted log of keyed records in a few partitions.
 *
 * Guarantees an adapter gives (test/conformance/report-topic.ts runs them against every adapter):
 *  1. Within a partition everybody reads the same records in the same order, offsets strictly rising.
 *  2. The newest record of each key survives compaction. Superseded records may be missing for a reader that starts
 *     later; nothing is ever missing between two records that a running reader has seen as they were appended.
 *  3. `appendMs` is stamped by the log's one clock per partition, not by the sender's. It may jump; the core copes.
 *  4. An append whose promise resolved is in the log. One whose promise rejected may be in the log or not.
 *  5. A record may be delivered again (after a reconnect); offsets tell.
 *  6. Nothing here throws into the listener's caller and no listener call happens after `close()` has resolved.
 *  7. Reading a record takes no part of the event loop while the topic is unreachable or frozen: every wait is bounded.
 *  8. The log has an epoch, told before its first record. Guarantees 1, 2 and 5 hold within one epoch. When the log that
 *     is read is no longer the one that was read so far (made anew, shortened, restored from elsewhere), in one partition
 *     or in all, another epoch begins: the log is delivered from its very start again, and caught up is told again.
 */
export interface ReportTopic {
  /** Partitions of the opened topic; 1 … 16. Read it after `open` has resolved. */
  readonly partitions: number;

  /**
   * In the store now, where their number can change; more than `partitions` when somebody has added some to a topic in
   * use. The additional ones are not read.
   */
  readonly partitionsFound?: number | undefined;

  /** What somebody has set wrongly at the store, with the remedy: records may get lost; null or absent = nothing. */
  readonly settingsMistake?: string | null | undefined;

  /** Who holds back this node's own requests by a quota of the store; null or absent = nobody. */
  readonly throttled?: string | null | undefined;

  /**
   * Connects, creates the topic where it is missing (or verifies its settings) and starts reading from the very start.
   * Rejects with a QuotameshError when the topic cannot be used as it is (wrong settings, no permission). When the
   * topic cannot be reached *now*, `open` stays pending, tells `onLost`, and goes on trying until it succeeds or
   * `close` is called.
   */
  open(listener: ReportTopicListener): Promise<void>;

  /**
   * Appends all records, in order per partition, as one produce where the log allows it.
   * Never retries by itself for longer than `appendTimeoutMs`: reports are absolute, the next one repairs a lost one.
   */
  append(records: readonly AppendRecord[]): Promise<void>;

  /** Resolves within 2 s whatever the state; pending appends are rejected. Idempotent. */
  close(): Promise<void>;

  /** Counters since creation; read by telemetry. */
  readonly counters: TopicCounters;

  /** Only where records are signed. */
  readonly signatures?: RecordSignatures | undefined;
}

/** What the signatures of the records read have told. */
export interface RecordSignatures {
  /** Names the key that signs here, and says nothing about it; the same at every node but during a rotation. */
  readonly keyId: string;
  /** What becomes of unverified records: require = ignored, warn = believed. */
  readonly mode: 'require' | 'warn';
  /** Records read, by the key that has signed them: key, next-key, previous-key. */
  readonly verified: Readonly<Record<string, number>>;
  /** Records read, by why none has: unsigned, unknown-key, wrong-signature. */
  readonly unverified: Readonly<Record<string, number>>;
  /**
   * Keys of the topic whose newest record would be lost by `verify: require`, or without the previous key; ≤ 10,000.
   */
  readonly unverifiedKeys: number;
  readonly previousKeys: number;
  /** How many nodes write to the topic of the reports and do not sign as this one does; 1,000 at most. */
  readonly strangers: number;
  /**
   * True if strangers write, no other node signs as this one does, and unverified records are ignored (kin-watch.ts).
   */
  readonly isApart: boolean;
  /** Since the last unverified record was read; Infinity = there was none. */
  readonly sinceUnverifiedMs: number;
}

export interface AppendRecord {
  readonly partition: number;
  readonly key: string;
  /** null = tombstone. */
  readonly value: Uint8Array | null;
}

export interface ReadRecord {
  readonly partition: number;
  readonly offset: number;
  /** Milliseconds of the log's clock. */
  readonly appendMs: number;
  readonly key: string;
  /**
   * May be a view of all that was read with it: whoever keeps it for longer than a turn of the event loop copies it.
   */
  readonly value: Uint8Array | null;
  /** Believed, but not signed with the key in force: whoever can say it again does (only where records are signed). */
  readonly isToRenew?: true;
}

export interface ReportTopicListener {
  /**
   * Called before the first record, and again whenever the log turns out to be another one than was read until then.
   * The records that follow belong to the log with this name, and their offsets start over. What earlier records said
   * is not in this log unless it is delivered again. Names are only compared, and shown to people.
   */
  onEpoch(epoch: string): void;
  /** One batch in the order of the log. Must not throw; must not block: it enqueues. */
  onRecords(records: readonly ReadRecord[]): void;
  /**
   * Called once per epoch, when `onRecords` has been given everything that the log held when this adapter found the
   * epoch (for the first epoch: when `open` connected).
   */
  onCaughtUp(): void;
  /**
   * Reads or appends do not work at the moment. Called once per loss, and again while it lasts if the reason is another
   * one.
   */
  onLost(reason: string): void;
  /** Both work again, after a loss. */
  onRecovered(): void;
  /** The adapter cannot go on by itself (topic deleted, permission withdrawn). The node stays up, isolated. */
  onFailed(error: Error): void;
}

export interface TopicCounters {
  recordsRead: number;
  bytesRead: number;
  recordsAppended: number;
  bytesAppended: number;
  appendsFailed: number;
  reconnects: number;
  /** Found in the store, and not written by any node; ignored. */
  foreignEntries: number;
  /** Answers of the server that its protocol does not allow, or that were too long; each has ended its connection. */
  malformedAnswers: number;
  /** For how long the store has held own requests back because of a quota of its own, in all. */
  throttledMs: number;
}

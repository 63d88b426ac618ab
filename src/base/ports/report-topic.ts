/**
 * Topic as nodes see it: an ordered, compacted log of keyed records in a few partitions.
 *
 * Guarantees of an adapter, run against each by test/conformance/report-topic.ts:
 * 1. Within a partition everybody reads the same records in the same order, offsets strictly rising.
 * 2. The newest record of each key survives compaction. Superseded ones may be missing for a reader that starts later,
 *    never between two records that a running reader has seen.
 * 3. `appendMs` is stamped by the log's one clock per partition, not by the sender's. It may jump; the core copes.
 * 4. An append whose promise resolved is in the log. One whose promise rejected may be in the log or not.
 * 5. A record may be delivered again (after a reconnect); offsets tell.
 * 6. Nothing here throws into the listener's caller; no listener call happens after `close()` has resolved.
 * 7. Reading takes no part of the event loop while the topic is unreachable or frozen: every wait is bounded.
 * 8. The log has an epoch, announced before its first record; 1, 2 and 5 hold within one. A log made anew, shortened or
 *    restored, in any partition, begins another: it is delivered from its start, and caught up is called again.
 */
export interface ReportTopic {
  /** Partitions, 1 … 16; read it after `open` has resolved. */
  readonly partitions: number;

  /** Partitions in the store now; additional ones are not read. */
  readonly partitionsFound?: number | undefined;

  /** Wrong settings of the store, with the remedy: records may get lost; null or absent = none. */
  readonly settingsMistake?: string | null | undefined;

  /** Quota of the store that holds requests back; null or absent = none. */
  readonly throttled?: string | null | undefined;

  /**
   * Connects, creates or verifies the topic, and reads from the very start. Rejects with a QuotameshError when the
   * topic cannot be used (settings, permission). While it cannot be reached, stays pending, calls `onLost`, and tries
   * on until it succeeds or `close` is called.
   */
  open(listener: ReportTopicListener): Promise<void>;

  /**
   * Appends all records in order per partition: as one produce where the log can. Retries no longer than
   * `appendTimeoutMs`: the next report repairs a lost one.
   */
  append(records: readonly AppendRecord[]): Promise<void>;

  /** Closes within 2 s, whatever the state; rejects pending appends. Idempotent. */
  close(): Promise<void>;

  readonly counters: TopicCounters;

  /** Absent = records are not signed. */
  readonly signatures?: RecordSignatures | undefined;
}

/** Verdicts on the signatures of records read. */
export interface RecordSignatures {
  /** Name of the signing key, which reveals nothing of it; equal at all nodes but during a rotation. */
  readonly keyId: string;
  /** Treatment of unverified records: require = ignored, warn = accepted. */
  readonly mode: 'require' | 'warn';
  /** Records read by signing key: key, next-key, previous-key. */
  readonly verified: Readonly<Record<string, number>>;
  /** Records read by cause: unsigned, unknown-key, wrong-signature. */
  readonly unverified: Readonly<Record<string, number>>;
  /** Keys whose newest record `verify: require`, or the previous key's end, would lose; ≤ 10,000. */
  readonly unverifiedKeys: number;
  readonly previousKeys: number;
  /** Nodes that write reports and sign otherwise than this one; ≤ 1,000. */
  readonly strangers: number;
  /** True = strangers write, none signs alike, and unverified records are ignored: kin-watch.ts. */
  readonly isApart: boolean;
  /** Milliseconds since the last unverified record; Infinity = none. */
  readonly sinceUnverifiedMs: number;
}

export interface AppendRecord {
  readonly partition: number;
  readonly key: string;
  readonly value: Uint8Array | null;
}

export interface ReadRecord {
  readonly partition: number;
  readonly offset: number;
  readonly appendMs: number;
  readonly key: string;
  /** Null = tombstone. May be a view of a whole read: copy it to keep it beyond a turn of the event loop. */
  readonly value: Uint8Array | null;
  /** Accepted, but not signed with the key in force: who can write it again does. */
  readonly isToRenew?: true;
}

export interface ReportTopicListener {
  /**
   * Called before the first record, and whenever the log is another. Offsets start over; earlier records count no more
   * unless delivered again. Names are compared, and shown to people.
   */
  onEpoch(epoch: string): void;
  /** Takes a batch in log order. Must neither throw nor block. */
  onRecords(records: readonly ReadRecord[]): void;
  /** Called once per epoch: after all records that the log held when it was found. */
  onCaughtUp(): void;
  /** Called once per loss of reads or appends; again with another reason. */
  onLost(reason: string): void;
  onRecovered(): void;
  /** Called when the adapter cannot go on (topic deleted, permission withdrawn). The node stays up, isolated. */
  onFailed(error: Error): void;
}

export interface TopicCounters {
  recordsRead: number;
  bytesRead: number;
  recordsAppended: number;
  bytesAppended: number;
  appendsFailed: number;
  reconnects: number;
  /** Entries in the store that no node has written; ignored. */
  foreignEntries: number;
  /** Malformed or too long answers; each has ended its connection. */
  malformedAnswers: number;
  /** Milliseconds for which a quota of the store held requests back. */
  throttledMs: number;
}

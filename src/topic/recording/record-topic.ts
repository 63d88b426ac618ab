import { setTimeout as sleep } from 'node:timers/promises';
import { VERSION } from '../../base/package/version.js';
import type { ReadRecord, ReportTopic, ReportTopicListener } from '../../base/ports/report-topic.js';
import type { ResolvedConfig } from '../../config/resolved/resolved-config.js';
import type { RecordingWriter } from './recording-writer.js';

export interface RecordOptions {
  readonly config: ResolvedConfig;
  readonly topic: ReportTopic;
  readonly writer: RecordingWriter;
  /** Ends the recording in order. */
  readonly signal: AbortSignal;
  /** Gets losses and recoveries of the topic, for people. */
  readonly tell: (text: string) => void;
  readonly onProgress?: (records: number, bytes: number) => void;
}

export interface RecordSummary {
  readonly records: number;
  readonly bytes: number;
}

/** Milliseconds between writes; a killed recorder loses that much. */
const FLUSH_EVERY_MS = 100;

/**
 * Writes what a reader of the topic gets, until the signal; appends nothing, takes no share. Rejects with
 * RECORDING_UNWRITABLE or the topic's failure; the file is closed first.
 */
export async function recordTopic(options: RecordOptions): Promise<RecordSummary> {
  const { config, topic, writer, signal, onProgress } = options;
  const listener = new Listener(writer, options.tell);
  try {
    const opened = topic.open(listener).then(() => true);
    if (!(await Promise.race([opened, aborted(signal)]))) {
      opened.catch(() => undefined);
      return { records: 0, bytes: 0 };
    }
    await writer.begin({
      format: 1,
      cluster: config.cluster,
      version: VERSION,
      topic: config.topic.kind,
      startedAt: new Date().toISOString(),
      partitions: topic.partitions,
      timing: { ...config.timing, sampleIntervalMs: config.sampleIntervalMs },
      limiting: config.limiting,
      groups: config.groups,
      keys: config.keys.templates.map(({ pattern, group, overrides }) => ({ pattern, group, overrides })),
    });
    while (!signal.aborted && listener.failure === null) {
      await sleep(FLUSH_EVERY_MS, undefined, { signal }).catch(() => {});
      await writer.flush();
      onProgress?.(writer.records, writer.bytes);
    }
  } finally {
    await topic.close();
    await writer.end();
  }
  if (listener.failure !== null) throw listener.failure;
  return { records: writer.records, bytes: writer.bytes };
}

class Listener implements ReportTopicListener {
  failure: Error | null = null;
  readonly #writer: RecordingWriter;
  readonly #tell: (text: string) => void;

  constructor(writer: RecordingWriter, tell: (text: string) => void) {
    this.#writer = writer;
    this.#tell = tell;
  }

  onEpoch(epoch: string): void {
    this.#writer.epoch(epoch);
  }

  onRecords(records: readonly ReadRecord[]): void {
    this.#writer.add(records);
  }

  onCaughtUp(): void {
    this.#writer.caughtUp();
  }

  onLost(reason: string): void {
    this.#tell(`topic lost: ${reason}`);
  }

  onRecovered(): void {
    this.#tell('topic recovered');
  }

  onFailed(error: Error): void {
    this.failure = error;
  }
}

function aborted(signal: AbortSignal): Promise<false> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(false);
    signal.addEventListener('abort', () => resolve(false), { once: true });
  });
}

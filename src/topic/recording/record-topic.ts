import { setTimeout as sleep } from 'node:timers/promises';
import { VERSION } from '../../base/package/version.js';
import type { ReportTopic, ReportTopicListener } from '../../base/ports/report-topic.js';
import type { ResolvedConfig } from '../../config/resolved/resolved-config.js';
import type { RecordingWriter } from './recording-writer.js';

interface RecordOptions {
  readonly config: ResolvedConfig;
  readonly topic: ReportTopic;
  readonly writer: RecordingWriter;
  /** Ends the recording in order. */
  readonly signal: AbortSignal;
  /** Gets losses and recoveries of the topic, for people. */
  readonly tell: (text: string) => void;
  readonly onProgress?: (records: number, bytes: number) => void;
}

/** Milliseconds between writes; a killed recorder loses that much. */
const FLUSH_EVERY_MS = 100;

/**
 * Writes what a reader of the topic gets, until the signal; appends nothing, takes no share. Rejects with
 * FILE_UNWRITABLE or the topic's failure; the file is closed first.
 */
export async function recordTopic(options: RecordOptions): Promise<{ records: number; bytes: number }> {
  const { config, topic, writer, signal, tell, onProgress } = options;
  const ended: { failure: Error | null } = { failure: null };
  const listener: ReportTopicListener = {
    onEpoch: (epoch) => writer.epoch(epoch),
    onRecords: (records) => writer.add(records),
    onCaughtUp: () => writer.caughtUp(),
    onLost: (reason) => tell(`topic lost: ${reason}`),
    onRecovered: () => tell('topic recovered'),
    onFailed: (error) => {
      ended.failure = error;
    },
  };
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
    while (!signal.aborted && ended.failure === null) {
      await sleep(FLUSH_EVERY_MS, undefined, { signal }).catch(() => {});
      await writer.flush();
      onProgress?.(writer.records, writer.bytes);
    }
  } finally {
    await topic.close();
    await writer.end();
  }
  if (ended.failure !== null) throw ended.failure;
  return { records: writer.records, bytes: writer.bytes };
}

function aborted(signal: AbortSignal): Promise<false> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(false);
    signal.addEventListener('abort', () => resolve(false), { once: true });
  });
}

import { loadConfig } from '../../../config/files/load-config.js';
import { kindOf, SHARED_KINDS } from '../../../config/schema/topic-kinds.js';
import { parseQuantity } from '../../../config/setting/quantity.js';
import { createTopic } from '../../../node/loop/open-topics.js';
import { recordTopic } from '../../../topic/recording/record-topic.js';
import { RecordingWriter } from '../../../topic/recording/recording-writer.js';
import { print, usage } from '../../terminal/print.js';
import { hideSecretsOf } from './hide-secrets.js';
import type { RecordCommandOptions } from './record-command.js';

const PROGRESS_EVERY_MS = 1000;

export async function runRecord(options: RecordCommandOptions): Promise<void> {
  const config = await loadConfig({ file: options.config, env: process.env });
  hideSecretsOf(config);
  if (kindOf(config.topic.kind).sharedBy !== 'processes') {
    throw usage(`topic kind ${config.topic.kind} lives inside one process; record ${SHARED_KINDS}`);
  }
  const ending = new AbortController();
  const timer = endAfter(options.for, ending);
  // A second signal finds no handler, and ends the process at once.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => ending.abort());
  const tell = (text: string) => process.stderr.write(`quotamesh: ${text}\n`);
  const topic = await createTopic(config, {
    log: (level, message) => {
      if (level === 'warn' || level === 'error') tell(message);
    },
  });
  const isTerminal = process.stderr.isTTY;
  let shownMs = 0;
  const { records, bytes } = await recordTopic({
    config,
    topic,
    tell,
    writer: await RecordingWriter.create(options.out),
    signal: ending.signal,
    onProgress: (count, size) => {
      if (!isTerminal || performance.now() - shownMs < PROGRESS_EVERY_MS) return;
      shownMs = performance.now();
      process.stderr.write(`\r${count} records, ${kilobytes(size)}  (Ctrl-C ends)`);
    },
  });
  clearTimeout(timer);
  if (isTerminal) process.stderr.write('\r\u001b[K');
  const done = `recorded ${records} records, ${kilobytes(bytes)}, in ${options.out}`;
  print(records === 0 && bytes === 0 ? 'nothing recorded' : done);
}

function kilobytes(bytes: number): string {
  return `${(bytes / 1000).toFixed(1)} kB`;
}

function endAfter(text: string | undefined, ending: AbortController): NodeJS.Timeout | undefined {
  if (text === undefined) return undefined;
  const durationMs = parseQuantity('duration', text);
  // Largest delay of a timer.
  if (!(durationMs > 0) || durationMs > 2 ** 31 - 1) {
    throw usage(`--for must be a duration from 1ms to 24d (e.g. 30s or 10m), got ${JSON.stringify(text)}`);
  }
  return setTimeout(() => ending.abort(), durationMs);
}

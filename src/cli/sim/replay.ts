import type { Readable } from 'node:stream';
import { renderPage } from '../../../sim/page/render-page.js';
import { replayRecording } from '../../../sim/replay/replay-recording.js';
import { readRecording } from '../../recording/read-recording.js';
import { MAGIC } from '../../recording/recording-format.js';
import type { ReplayCommandOptions } from './replay-command.js';
import { cannotRead, openFile, writeHtml } from './replay-files.js';
import { recordingNote, recordingTable } from './replay-tables.js';
import { replayTrace } from './replay-trace.js';

/** `quotamesh sim replay`: a recording by its first bytes, anything else as CSV. */
export async function simReplay(file: string, options: ReplayCommandOptions): Promise<void> {
  const input = file === '-' ? process.stdin : openFile(file);
  const head = await firstBytes(input, MAGIC.length).catch((error: Error) => cannotRead(file, error));
  if (head.equals(MAGIC)) await replayRecorded(input, file, options);
  else await replayTrace(input, file, options);
}

async function replayRecorded(input: Readable, file: string, options: ReplayCommandOptions): Promise<void> {
  const recording = await readRecording(input, file);
  const { group, direction, json, html } = options;
  const replay = await replayRecording(recording, { group, direction });
  const note = recordingNote(recording, replay);
  if (html !== undefined) writeHtml(html, renderPage(replay.runs, note));
  const facts = { recording: recording.header, end: recording.end, ...replay };
  process.stdout.write(json ? `${JSON.stringify(facts)}\n` : recordingTable(recording, replay));
  const { damage, isClosed } = recording.end;
  if (damage !== null) {
    const { atByte, reason, bytesLost } = damage;
    process.stderr.write(
      `quotamesh: ${file} is damaged at byte ${atByte}: ${reason}; ${replay.records} records before it are replayed, the last ${bytesLost} bytes are not\n`,
    );
  } else if (!isClosed) {
    process.stderr.write(
      `quotamesh: ${file} was not closed by its recorder; all ${replay.records} records are replayed\n`,
    );
  }
}

/** Reads and gives back. Fewer where the stream is shorter. */
export async function firstBytes(input: Readable, count: number): Promise<Buffer> {
  for (;;) {
    const chunk = input.read(count) as Buffer | null;
    if (chunk !== null) {
      input.unshift(chunk);
      return chunk;
    }
    if (input.readableEnded) return Buffer.alloc(0);
    await new Promise<void>((resolve, reject) => {
      const settle = (error?: Error) => {
        for (const name of ['readable', 'end', 'error']) input.off(name, settle);
        if (error === undefined) resolve();
        else reject(error);
      };
      for (const name of ['readable', 'end', 'error']) input.on(name, settle);
    });
  }
}

import type { Readable } from 'node:stream';
import { readRecording } from '../../src/topic/recording/read-recording.js';
import { renderPage } from '../page/render-page.js';
import { replayRecording } from '../replay/replay-recording.js';
import { rejectCsvFlags } from './arrival-options.js';
import { type ReplayCommandOptions, simReplayCommand } from './replay-command.js';
import { openRecorded, writeHtml } from './replay-files.js';
import { recordingNote, recordingTable } from './replay-tables.js';
import { replayTrace } from './replay-trace.js';

export async function simReplay(file: string, options: ReplayCommandOptions): Promise<void> {
  const { bytes, isRecording } = await openRecorded(file);
  if (isRecording) await replayRecorded(bytes, file, options);
  else await replayTrace(bytes, file, options);
}

async function replayRecorded(input: Readable, file: string, options: ReplayCommandOptions): Promise<void> {
  rejectCsvFlags(simReplayCommand(), options, file);
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

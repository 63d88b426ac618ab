import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { playTranscript } from './play-transcript.js';

const HERE = new URL('./', import.meta.url);
const NAMES = readdirSync(HERE).filter((name) => name.endsWith('.txt'));

test('there are transcripts', () => {
  expect(NAMES.length).toBeGreaterThan(0);
});

/** `UPDATE_TRANSCRIPTS=1` writes them anew; read the difference before you commit it (docs/contribute/transcripts.md). */
test.each(NAMES)('%s', (name) => {
  const file = new URL(name, HERE);
  const written = readFileSync(file, 'utf8');
  const played = playTranscript(written);
  if (process.env.UPDATE_TRANSCRIPTS === '1') writeFileSync(file, played);
  else expect(played.split('\n')).toEqual(written.split('\n'));
});

test('a mistake in a transcript is told with its line', () => {
  expect(() => playTranscript('cluster strategy=equal\nstrat a\n')).toThrow(
    'line 2, "strat a": "strat" is not known; known are start,',
  );
  expect(() => playTranscript('cluster quotas=100\n')).toThrow('groups.orders.quotas');
  expect(() => playTranscript('start a\n')).toThrow('begin with "cluster"');
  expect(() => playTranscript('cluster strategy=equal\nrun soon\n')).toThrow('"soon" is no time; write 500ms or 2s');
});

import { expect, test } from 'vitest';
import { blocksOf } from '../guides/page-blocks.js';
import { playPage } from '../guides/played-page.js';

/** Records and bytes on the topic stand behind them: those change whenever reports do, and a reader decides nothing by them. */
const DECIDED_BY = 'system             admitted  refused     used  worst second  over 5 s'.length;

test('docs/operate/capacity.md: the replays print what the page shows', async () => {
  const blocks = blocksOf('docs/operate/capacity.md');
  const { code, output, outputs } = await playPage(blocks, {
    before: 'npm install ../quotamesh/quotamesh-0.1.0.tgz',
    timeoutMs: 600_000,
  });
  expect(code, output).toBe(0);
  const shown = blocks.filter(({ language }) => language === 'text').map(({ text }) => text);
  const decisive = (text: string) => text.split('\n').map((line) => line.slice(0, DECIDED_BY));
  expect(shown).toHaveLength(2);
  expect(outputs.map(decisive)).toEqual(shown.map(decisive));
});

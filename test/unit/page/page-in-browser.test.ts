import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { renderPage } from '../../../sim/page/render-page.js';
import { isDrawn, someOf } from '../../property/seed.js';
import { objectionsTo } from './accessibility.js';
import { expectToFit, findBrowser, NO_BROWSER, openPage } from './browser.js';
import { runOf } from './runs.js';

const executablePath = findBrowser(process.env);
const HAPPENINGS = [
  { atMs: 10_000, says: '10.0 s demand of a ×20' },
  { atMs: 42_000, says: '42.0 s quota halved' },
];
const NODES = Array.from({ length: 10 }, (_, at) => `n${at}`);
const RUNS = [
  { system: 'quotamesh max-min', grip: 1 },
  { system: 'pulsar', grip: 0.05 },
  { system: 'static split', grip: 0.8 },
].map((shape) => runOf({ ...shape, nodes: NODES, seconds: 60, happenings: HAPPENINGS }));
const TOKENS = { system: 'quotamesh max-min', tokens: true, seconds: 20 };
const HOSTILE = '</script><img src=x onerror="window.broken=1">';

describe('the page in a browser', () => {
  let browser: Browser;
  let folder: string;
  let page: Page;
  const complaints: string[] = [];

  beforeAll(async () => {
    if (executablePath === undefined) {
      console.log(`The page is not checked in a browser: ${NO_BROWSER}.`);
      return;
    }
    folder = mkdtempSync(join(tmpdir(), 'quotamesh-page-'));
    writeFileSync(join(folder, 'three.html'), renderPage(RUNS));
    writeFileSync(join(folder, 'tokens.html'), renderPage([runOf({ ...TOKENS, nodes: NODES })]));
    const many = Array.from({ length: 100 }, (_, at) => `node-${at}`);
    writeFileSync(join(folder, 'hundred.html'), renderPage([runOf({ system: 'one', nodes: many, seconds: 20 })]));
    const nodes = [HOSTILE, '__proto__x', '\u202eabc'];
    const says = `1.0 s ${HOSTILE}`;
    const shape = { scenario: HOSTILE, system: HOSTILE, nodes, seconds: 20, happenings: [{ atMs: 1000, says }] };
    writeFileSync(join(folder, 'hostile.html'), renderPage([runOf(shape), runOf({ ...shape, seed: 8 })], HOSTILE));
    ({ browser, page } = await openPage(executablePath, complaints, (url) => /^(file|data):/.test(url)));
  });

  afterAll(async () => {
    await browser?.close();
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  });

  beforeEach(({ skip }) => {
    if (executablePath === undefined) skip(NO_BROWSER);
  });

  /** Opens a page from the disk, does something with it, and sees to it that nothing was complained about or fetched. */
  async function visit(name: string, look: () => Promise<void>) {
    complaints.length = 0;
    await page.goto(pathToFileURL(join(folder, `${name}.html`)).href);
    await page.waitForSelector('canvas');
    await look();
    expect(complaints).toEqual([]);
  }

  test('every chart has ink, in light and in dark; nothing sticks out at 1280 and 390 pixels', async () => {
    await visit('three', async () => {
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        const inked = (await page.evaluate(INK_PER_CANVAS)) as number[];
        // The overview and four charts on each side.
        expect(inked).toHaveLength(9);
        for (const part of inked) expect(part).toBeGreaterThan(0.005);
      }
      await expectToFit(page, 390, 1280);
    });
  });

  test.runIf(isDrawn(0))('slider, keys and pointer move the time, and the figures follow', async () => {
    await visit('three', async () => {
      const time = () => page.textContent('#readout-time');
      await page.fill('#time', '49');
      await expect.poll(time).toBe('5.0 s');
      const calm = await page.textContent('#readout .total');
      await page.fill('#time', '199');
      await expect.poll(time).toBe('20.0 s');
      expect(await page.textContent('#readout .total')).not.toBe(calm);
      expect(await page.getAttribute('#time', 'aria-valuetext')).toMatch(
        /^20\.0 s: admitted A [\d,]+, B [\d,]+, quota 1,000$/,
      );
      await page.focus('#time');
      await page.keyboard.press('ArrowRight');
      await expect.poll(time).toBe('20.1 s');
      await page.keyboard.press('Shift+ArrowLeft');
      await expect.poll(time).toBe('19.1 s');
      await page.hover('#sides .u-over >> nth=0', { position: { x: 20, y: 30 } });
      await expect.poll(time).not.toBe('19.1 s');
      await page.click('#happenings button >> nth=1');
      await expect.poll(time).toBe('42.1 s');
      expect(await page.textContent('#now')).toContain('quota 500');
    });
  });

  test.runIf(isDrawn(1))('A, B, the dimension and the smoothing can be chosen', async () => {
    await visit('three', async () => {
      const titles = () => page.locator('.side-title .name').allTextContents();
      expect(await titles()).toEqual(['quotamesh max-min', 'pulsar']);
      await page.selectOption('#right', { label: 'static split' });
      expect(await titles()).toEqual(['quotamesh max-min', 'static split']);
      await page.click('.verdict .pick >> nth=1');
      expect(await titles()).toEqual(['quotamesh max-min', 'pulsar']);
      const messages = await page.textContent('#readout .total');
      await page.selectOption('#dimension', 'bytes');
      expect(await page.textContent('#readout .total')).not.toBe(messages);
      await page.selectOption('#right', '-1');
      expect(await titles()).toEqual(['quotamesh max-min']);
      await page.selectOption('#mean', '0');
      expect(await page.evaluate(INK_PER_CANVAS)).toHaveLength(5);
    });
  });

  const TOKEN_CHARTS = "a run of tokens has charts of the cluster's bucket, and its figures at a time";
  test.runIf(isDrawn(2))(TOKEN_CHARTS, async () => {
    await visit('tokens', async () => {
      const inked = (await page.evaluate(INK_PER_CANVAS)) as number[];
      expect(inked).toHaveLength(6);
      for (const part of inked) expect(part).toBeGreaterThan(0.001);
      await page.fill('#time', '149');
      await expect
        .poll(() => page.textContent('#buckets'))
        .toBe('A: −20 of 100 tokens, a debt; set point 30, correction −50/s');
      await expectToFit(page, 390, 1280);
    });
  });

  test.each(someOf(['three', 'tokens', 'hundred']))('axe has no objection: %s', async (name) => {
    await visit(name, async () => {
      expect(await objectionsTo(page)).toEqual([]);
    });
  });

  test.runIf(isDrawn(3))('dragging enlarges all charts, the button shows the whole run again', async () => {
    await visit('three', async () => {
      const box = (await page.locator('#sides .u-over').first().boundingBox())!;
      await page.mouse.move(box.x + 40, box.y + 40);
      await page.mouse.down();
      await page.mouse.move(box.x + 120, box.y + 42, { steps: 4 });
      await page.mouse.up();
      await page.waitForSelector('#whole:not([hidden])');
      await page.click('#whole');
      await page.waitForSelector('#whole', { state: 'hidden' });
    });
  });

  test('hostile names are text, and nothing sticks out', async () => {
    await visit('hostile', async () => {
      expect(await page.textContent('h1')).toBe(HOSTILE);
      expect(await page.evaluate('[typeof window.broken, document.images.length]')).toEqual(['undefined', 0]);
      expect(await page.locator('#readout .node .name').first().textContent()).toBe(HOSTILE);
      expect(await page.textContent('#happenings button')).toBe(`1.0 s ${HOSTILE}`);
      await expectToFit(page, 390, 1280);
    });
  });

  test.runIf(isDrawn(4))('100 nodes: eleven by name and the others in one', async () => {
    await visit('hundred', async () => {
      const names = await page.locator('#readout .node .name').allTextContents();
      expect(names).toHaveLength(12);
      expect(names[0]).toBe('node-0');
      expect(names[11]).toBe('89 others, in all');
      await expectToFit(page, 390, 1280);
    });
  });

  test.runIf(isDrawn(5))('scrubbing is quick: 40 moves of the slider', async () => {
    await visit('three', async () => {
      const tookMs = (await page.evaluate(SCRUB)) as number;
      console.log(`page: 40 moves of the slider, frames included: ${Math.round(tookMs)} ms`);
      // 16.7 ms each is the pace of the screen; five times that on a busy machine without a graphics card.
      expect(tookMs).toBeLessThan(40 * 85);
    });
  });
});

/** Part of each canvas that is not transparent. */
const INK_PER_CANVAS = `[...document.querySelectorAll('canvas')].map((canvas) => {
  const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d', { willReadFrequently: true });
  copy.drawImage(canvas, 0, 0);
  const { data } = copy.getImageData(0, 0, canvas.width, canvas.height);
  let inked = 0;
  for (let at = 3; at < data.length; at += 4) if (data[at] > 0) inked++;
  return inked / (data.length / 4);
})`;

const SCRUB = `(async () => {
  const slider = document.getElementById('time');
  const begin = performance.now();
  for (let step = 0; step < 40; step++) {
    slider.value = String(step * 10);
    slider.dispatchEvent(new Event('input'));
    await new Promise(requestAnimationFrame);
  }
  return performance.now() - begin;
})()`;

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { listen } from '../../src/doors/http/server/http-server.js';
import { readyScene } from '../unit/http/http-scene.js';
import { objectionsTo } from '../unit/page/accessibility.js';
import { expectToFit, findBrowser, NO_BROWSER, openPage } from '../unit/page/browser.js';

const executablePath = findBrowser(process.env);

test('the live page shows a budget, tops it up once for each id, and resets it when asked twice', async ({ skip }) => {
  if (executablePath === undefined) return skip(NO_BROWSER);
  const folder = await mkdtemp(join(tmpdir(), 'quotamesh-budget-page-'));
  const topic = { kind: 'embedded', path: folder };
  const groups = { acme: { budget: { cents: 2000, per: 'month', timezone: 'Europe/Berlin' } }, free: {} };
  const http = { host: '127.0.0.1', port: 0 };
  const scene = await readyScene({ cluster: `budget-page-${process.pid}`, node: 'a', topic, groups, http });
  const url = await listen(scene.app, scene.node);
  const complaints: string[] = [];
  const { browser, page } = await openPage(executablePath, complaints, (asked) => asked.startsWith(url));
  onTestFinished(async () => {
    await browser.close();
    await scene.close();
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  });
  const visit = async (hash: string) => {
    await page.goto(`${url}/${hash}`);
    await page.reload();
    await page.waitForSelector('#link[data-state=open]');
  };
  const card = page.locator('section.card:has(h2:text-is("Budget"))');
  const facts = async () => (await card.locator('.facts').textContent()) ?? '';
  const told = async () => (await card.locator('[role=status]').textContent()) ?? '';
  const soon = { timeout: 20_000 };

  await visit('#/group/acme/publish');
  await expect.poll(facts, soon).toMatch(/^2,000 of 2,000 cents are left/);
  const asked = { messages: 1, cents: 12.5 };
  expect(await scene.node.acquire('acme', asked, { waitMs: 5000 })).toMatchObject({ granted: true });
  await expect.poll(facts, soon).toMatch(/^1,98[78][.\d]* of 2,000 cents are left.* · the month ends /);

  await card.locator('label:has-text("cents") input').fill('500');
  await card.getByRole('button', { name: 'Top up' }).click();
  await expect.poll(told, soon).toMatch(/id must be a string of 1 to 100/);
  await card.locator('label:has-text("id") input').fill('<i>invoice-7</i>');
  await card.getByRole('button', { name: 'Top up' }).click();
  await expect.poll(told, soon).toBe('<i>invoice-7</i> counts: 2500 cents now.');
  await card.getByRole('button', { name: 'Top up' }).click();
  await expect.poll(told, soon).toBe('<i>invoice-7</i> was counted before.');
  await expect.poll(() => card.locator('tbody tr').allTextContents(), soon).toHaveLength(1);
  expect(await card.locator('tbody tr').textContent()).toMatch(/^<i>invoice-7<\/i>500/);

  await card.locator('label:has-text("id") input').fill('case-12');
  await card.getByRole('button', { name: 'Reset' }).click();
  expect(scene.node.budgetOf('acme').gifts).toHaveLength(1);
  await card.getByRole('button', { name: /all that is spent is there again/ }).click();
  await expect.poll(told, soon).toMatch(/^case-12 counts/);
  expect(scene.node.budgetOf('acme').gifts).toMatchObject([{ amount: 500 }, { id: 'case-12', amount: null }]);

  expect(await objectionsTo(page)).toEqual([]);
  await expectToFit(page, 360, 768, 1280);
  await visit('#/group/free/publish');
  await expect.poll(() => page.locator('.nodes tbody tr').count(), soon).toBe(1);
  expect(await card.isVisible()).toBe(false);
  expect(complaints.filter((text) => !text.includes('status of 4'))).toEqual([]);
}, 120_000);

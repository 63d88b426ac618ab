import { readFileSync } from 'node:fs';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { findBrowser, NO_BROWSER, openPage } from './browser.js';

const executablePath = findBrowser(process.env);
const ORIGIN = 'http://parts.test';
const SOURCES = new URL('../../../src/doors/page/', import.meta.url);

const PAGE = '<main></main><script id="strategies" type="application/json">["max-min"]</script>';

type Answer = readonly [status: number, body: unknown];
type Answers = (path: string) => Answer | Promise<Answer>;

/** Parts of the live page by themselves, in a real browser, before a node that answers what each test says. */
describe('parts of the live page', () => {
  let browser: Browser;
  let page: Page;
  let answers: Answers;

  beforeAll(async () => {
    if (executablePath === undefined) return;
    ({ browser, page } = await openPage(executablePath, [], () => true));
    await page.route(`${ORIGIN}/**`, async (route) => {
      const { pathname, search } = new URL(route.request().url());
      if (pathname === '/') return route.fulfill({ contentType: 'text/html', body: PAGE });
      if (pathname.endsWith('.mjs')) {
        const body = readFileSync(new URL(`.${pathname}`, SOURCES), 'utf8');
        return route.fulfill({ contentType: 'text/javascript', body });
      }
      const [status, body] = await answers(`${pathname}${search}`);
      return route.fulfill({ status, contentType: 'application/json', body: JSON.stringify(body) });
    });
  });

  afterAll(() => browser?.close());

  beforeEach(async ({ skip }) => {
    if (executablePath === undefined) skip(NO_BROWSER);
    await page.goto(`${ORIGIN}/`);
  });

  /** Makes `part` of a module in `main`. */
  async function begin(module: string, part: string, asked: unknown): Promise<void> {
    const made = `new ${part}(document.querySelector('main'), ${JSON.stringify(asked)})`;
    await page.evaluate(`import('/live/${module}').then(({ ${part} }) => { window.part = ${made}; })`);
  }

  const shown = () => page.textContent('main');

  describe('the change of a key', () => {
    const quota = (messagesPerSecond: string) => ({ publish: { messagesPerSecond } });
    const key = (rate: string): Answers => {
      return (path) => (path.endsWith('/key%3Aa') ? [200, { template: 'key:{id}', quota: quota(rate) }] : [200, {}]);
    };
    const follow = (rate: string) => {
      return page.evaluate(`part.follow(${JSON.stringify({ quotaAsWritten: quota(rate).publish })})`);
    };
    const field = () => page.locator('.change input').first();
    const asked = { key: 'key:a', direction: 'publish', canChange: true };

    test('is loaded again when the key is pushed, after the node was away', async () => {
      answers = () => [503, { detail: 'the node is stopping' }];
      await begin('key-change.mjs', 'KeyChange', asked);
      await expect.poll(shown).toContain('the node is stopping');
      answers = key('5/min');
      await follow('5/min');
      await expect.poll(() => field().inputValue(), { timeout: 2000 }).toBe('5/min');
    });

    test('keeps what was typed while the change of somebody else was loaded', async () => {
      answers = key('5/min');
      await begin('key-change.mjs', 'KeyChange', asked);
      await expect.poll(() => field().inputValue()).toBe('5/min');
      let answer: () => void = () => undefined;
      const isLate = new Promise<void>((resolve) => {
        answer = resolve;
      });
      const isAsked = new Promise<void>((resolve) => {
        answers = async (path) => {
          resolve();
          await isLate;
          return key('6/min')(path);
        };
      });
      await follow('6/min');
      await isAsked;
      await field().fill('7/min');
      const isLoaded = page.waitForResponse((response) => response.url().includes('/v1/key-templates/'));
      answer();
      await (await isLoaded).finished();
      await page.evaluate('new Promise(requestAnimationFrame)');
      expect(await field().inputValue()).toBe('7/min');
      // Nobody types any more: what somebody else has changed is loaded.
      answers = key('6/min');
      await field().fill('5/min');
      await follow('6/min');
      await expect.poll(() => field().inputValue(), { timeout: 2000 }).toBe('6/min');
    });
  });

  describe('the last changes', () => {
    const change = (name: string) => {
      const who = { time: null, who: null, node: 'a' };
      return { ...who, what: 'changed', name, before: { rate: 1 }, after: { rate: 2 } };
    };
    const follow = (template: string | null, revision: number) => {
      return page.evaluate(`part.follow(${JSON.stringify({ template, revision })})`);
    };
    const begun = () => begin('last-changes.mjs', 'LastChanges', 'acme');

    test.each([
      ['a group', null, 'acme'],
      ['a key', '{id}', '%2Fkey%2Facme'],
    ])('are the newest of %s', async (_, template, group) => {
      const asked: string[] = [];
      answers = (path) => {
        asked.push(path);
        return [200, { changes: [change('older'), change('newer')] }];
      };
      await begun();
      await follow(template, 0);
      expect(asked).toEqual([`/v1/audit?group=${group}&last=8`]);
      expect(await page.locator('.changes li').count()).toBe(2);
    });

    test('are asked for again when the node was away, and not where they are refused for good', async () => {
      let asked = 0;
      answers = () => [++asked === 1 ? 503 : 403, { detail: `answer ${asked}` }];
      await begun();
      for (let push = 0; push < 3; push++) await follow(null, 7);
      expect([asked, await shown()]).toEqual([2, 'answer 2']);
    });
  });

  test('the change of a group is loaded again when the group is pushed, after the node was away', async () => {
    answers = () => [503, { detail: 'the node is stopping' }];
    const asked = { group: 'orders', direction: 'publish', dimension: 'messages', canChange: true };
    await begin('what-if.mjs', 'WhatIf', asked);
    await expect.poll(shown).toContain('the node is stopping');
    answers = () => [200, { definition: { quota: { publish: { messagesPerSecond: 5 } } } }];
    await page.evaluate('part.follow({})');
    await expect.poll(() => page.locator('.change input').first().inputValue(), { timeout: 2000 }).toBe('5');
  });

  describe('the list of groups in the past', () => {
    const row = (group: string, wanted: number) => {
      return { group, direction: 'publish', dimension: 'messages', quota: 10, admitted: 1, wanted };
    };
    const now = {
      unnamed: 0,
      found: 1,
      total: 1,
      from: 0,
      rows: [{ ...row('now', 1), throttledNodes: 0, enabled: true }],
    };
    const names = () => page.locator('.lines .line:not([hidden]) a').allTextContents();

    beforeEach(async () => {
      await begin('groups-list.mjs', 'GroupsList', {});
      await page.evaluate(`part.reopen = () => undefined; part.take('groups', ${JSON.stringify(now)})`);
      expect(await names()).toEqual(['now']);
    });

    test('a refusal is told, and no line of now stands for the past', async () => {
      answers = () => [403, { detail: 'this needs the role viewer' }];
      await page.evaluate('part.at(300)');
      expect(await names()).toEqual([]);
      expect(await shown()).toContain('this needs the role viewer');
    });

    test('by heat, and by name where that is asked for', async () => {
      answers = () => [200, { rows: [row('b', 5), row('c', 9), row('a', 7)] }];
      await page.evaluate('part.at(300)');
      expect(await names()).toEqual(['c', 'a', 'b']);
      await page.selectOption('#order', 'name');
      await expect.poll(names, { timeout: 2000 }).toEqual(['a', 'b', 'c']);
    });
  });
});

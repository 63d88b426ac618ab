import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { chromium, type Page } from 'playwright-core';
import { expect } from 'vitest';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome', 'microsoft-edge'];

/** Path of a Chromium-like browser: QUOTAMESH_BROWSER, or the first one found on PATH; undefined where there is none. */
export function findBrowser(env: Readonly<NodeJS.ProcessEnv>): string | undefined {
  const named = env.QUOTAMESH_BROWSER;
  if (named !== undefined && named !== '') {
    if (!existsSync(named)) throw new Error(`QUOTAMESH_BROWSER names ${named}, which does not exist`);
    return named;
  }
  const folders = (env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  return folders.flatMap((folder) => NAMES.map((name) => join(folder, name))).find((path) => existsSync(path));
}

/** A page that adds to `complaints` what it says on its console, and each address that it fetches from elsewhere. */
export async function openPage(executablePath: string, complaints: string[], isOwn: (url: string) => boolean) {
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  page.on('console', (message) => complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('request', (request) => {
    if (!isOwn(request.url())) complaints.push(`fetches ${request.url()}`);
  });
  return { browser, page };
}

/** Nothing sticks out at these widths; the last one stays. */
export async function expectToFit(page: Page, ...widths: readonly number[]): Promise<void> {
  for (const width of widths) {
    await page.setViewportSize({ width, height: 900 });
    // The charts follow in frames of the browser, which a busy machine is late with.
    await expect.poll(() => page.evaluate('document.documentElement.scrollWidth'), { timeout: 10_000 }).toBe(width);
  }
}

export const NO_BROWSER = 'there is none on PATH; install chromium, or let QUOTAMESH_BROWSER name one';

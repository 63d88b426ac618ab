import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { chromium } from 'playwright-core';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'chrome'];

/** The Chromium that QUOTAMESH_BROWSER names, or the first on PATH. */
export function startBrowser() {
  return chromium.launch({ executablePath: findBrowser(), args: ['--no-sandbox'] });
}

function findBrowser() {
  const named = process.env.QUOTAMESH_BROWSER;
  if (named) return named;
  const paths = (process.env.PATH ?? '').split(delimiter).flatMap((path) => NAMES.map((name) => join(path, name)));
  const found = paths.find((path) => existsSync(path));
  if (found === undefined) throw new Error('there is no Chromium on PATH; QUOTAMESH_BROWSER may name one');
  return found;
}

import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

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

export const NO_BROWSER = 'there is none on PATH; install chromium, or let QUOTAMESH_BROWSER name one';

/**
 * `npm run page:figures`: size, layout shift, contrast and pauses of the live page, and what ten open pages cost a node of
 * 100 with 10,000 groups; exit code 1 where a bound is not kept. It takes about three minutes; `-- shop`
 * or `-- large` measures one of both clusters.
 * `npm run page:pictures`: docs/pictures/live-*.png; `-- FOLDER` takes every view, light, dark, and on a phone.
 * Both need a Chromium on PATH (or QUOTAMESH_BROWSER).
 */
import { ensureBuilt } from './freshness.mjs';
import { startBrowser } from './page/chromium.mjs';
import { printFigures } from './page/figures.mjs';
import { takePictures } from './page/pictures.mjs';

ensureBuilt();
const browser = await startBrowser();
let isKept = true;
try {
  if (process.argv[2] === 'pictures') await takePictures(browser, process.argv[3]);
  else isKept = await printFigures(browser, process.argv[3]);
} finally {
  await browser.close();
}
process.exit(isKept ? 0 : 1);

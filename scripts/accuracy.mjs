/**
 * `npm run accuracy`: every built-in scenario × every system × three seeds → docs/reference/accuracy.md.
 * `-- --check` compares instead of writing; `-- --seeds 1 --out FILE` is shorter; `-- --pin` stores the figures that `npm test` compares;
 * `-- --only-keys` tells the part about keys anew, in a minute.
 */
import { ensureBuilt, root, run } from './freshness.mjs';

ensureBuilt();
run(process.execPath, [`${root}/dist/sim/accuracy/accuracy-main.js`, ...process.argv.slice(2)]);

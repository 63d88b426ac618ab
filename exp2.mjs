import { walk, play, report } from './exp.mjs';
import { ledger, central } from './model.mjs';
for (const N of [3, 5, 10]) for (const delayMs of [5, 50]) for (const seed of [1, 2, 3]) { const tr = walk({ seed, N, Q: 590 }); const depth = Math.max(59, 3*Math.sqrt(590));
 const c = central(tr, depth); report(`N=${N} central`, tr, { out: c, reports: 0 });
 const m = ledger(tr, { depth, delay: delayMs / 1000 }); report(`N=${N} ${delayMs} ms ${seed} model`, tr, { out: m, reports: m.records });
 report(`N=${N} ${delayMs} ms ${seed} tokens`, tr, play(tr, { sharing: 'tokens', delayMs })); }

import { walk, play } from './exp.mjs';
import { ledger } from './model.mjs';
const [N, seed] = [10, 1]; const tr = walk({ seed, N, Q: 590 }); const depth = 3*Math.sqrt(590);
const m = ledger(tr, { depth, delay: .005 }); const r = play(tr, { sharing: 'tokens', delayMs: 5 });
const c = (o, a, b) => o.filter((t) => t >= a && t < b).length;
for (let t = 0; t < 60; t++) console.log(t, 'dem', c(tr.A.map((a) => a[0]), t, t + 1), 'model', c(m, t, t + 1), 'tokens', c(r.out, t, t + 1), 'over5', c(m, t-4, t+1) - 5*590, c(r.out, t-4, t+1) - 5*590);

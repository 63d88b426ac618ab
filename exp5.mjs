import { walk, play } from './exp.mjs';
import { ledger } from './model.mjs';
const N = 30, Q = 2000;
const c = (o, a, b) => o.filter((t) => t >= a && t < b).length;
for (let seed = 1; seed <= 8; seed++) { const tr = walk({ seed, N, Q, keys: 400 }); const r = play(tr, { sharing: 'tokens', delayMs: 50 }); console.log(seed, (r.out.length / tr.possible * 100).toFixed(1)); if (r.out.length / tr.possible < .97) { const m = ledger(tr, { depth: 200, delay: .05 }); for (let t = 0; t < 60; t += 1) { const d = c(tr.A.map((a) => a[0]), t, t + 1); const a = c(r.out, t, t + 1); if (a < Math.min(d, Q) * .97) console.log(t, d, a, c(m, t, t + 1)); } break; } }

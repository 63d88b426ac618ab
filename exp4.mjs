import { walk, play, report } from './exp.mjs';
import { ledger } from './model.mjs';
const most = (out, w) => { let i = 0, m = 0; for (let k = 0; k < out.length; k++) { while (out[i] <= out[k] - w) i++; m = Math.max(m, k - i + 1); } return m; };
const med = (a) => { const s = [...a].sort((x, y) => x - y); return s[s.length >> 1]; };
const seeds = process.argv[2] ? Number(process.argv[2]) : 8;
for (const N of [3, 5, 10, 30]) for (const delayMs of [5, 50]) for (const kind of ['model', 'tokens']) { const o = [], w = [], u = [], rec = []; for (let seed = 1; seed <= seeds; seed++) { const Q = N === 30 ? 2000 : 590; const tr = walk({ seed, N, Q, keys: N > 10 ? 400 : 50 }); const depth = Math.max(0.1 * Q, 3 * Math.sqrt(Q)); let out, r; if (kind === 'model') { out = ledger(tr, { depth, delay: delayMs / 1000 }); r = out.records; } else { const p = play(tr, { sharing: 'tokens', delayMs }); out = p.out; r = p.reports; } o.push((most(out, 5) / (5 * Q) - 1) * 100); w.push(most(out, 1) / Q); u.push(out.length / tr.possible * 100); rec.push(r); }
 console.log(`N=${N} ${delayMs} ms ${kind}`.padEnd(22), 'over5 median', med(o).toFixed(1), 'worst', Math.max(...o).toFixed(1), 'second', med(w).toFixed(3), Math.max(...w).toFixed(3), 'used', med(u).toFixed(1), Math.min(...u).toFixed(1), 'rec', med(rec).toFixed(2)); }

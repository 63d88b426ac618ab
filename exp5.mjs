import { walk, play } from './exp.mjs';
import { ledger } from './model.mjs';
const N = 30, Q = 2000;
const c = (o, a, b) => o.filter((t) => t >= a && t < b).length;
for (let seed = 1; seed <= 8; seed++) { const tr = walk({ seed, N, Q, keys: 400 }); const r = play(tr, { sharing: 'tokens', delayMs: 5 }); console.log(seed, (r.out.length / tr.possible * 100).toFixed(1)); if (r.out.length / tr.possible < .9) { for (let t = 0; t < 60; t += 2) { console.log(t, c(tr.A.map((a) => a[0]), t, t + 1), c(r.out, t, t + 1)); } const n = r.world.node('n0'); const l = n.coordinator.lanes.get(0); console.log(JSON.stringify(l.tokens.dimensions[0]), l.tokens, [...r.world.nodes.values()].map((n) => { const s = n.coordinator.lanes.get(0)?.tokens.dimensions[0]; return s && [s.clusterTokens.toFixed(0), s.takeable.toFixed(1), s.perSecond.toFixed(0), s.account.unheard.toFixed(1), s.account.charge.toFixed(0)].join(' '); })); break; } }

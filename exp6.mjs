import { walk, play } from './exp.mjs';
const N = 30, Q = 2000, seed = 2; const tr = walk({ seed, N, Q, keys: 400 });
tr.A = tr.A.filter(([t]) => t < 56); tr.T = 56;
const at = []; for (const [t, i] of tr.A) if (t > 54) at[i] = (at[i] ?? 0) + 0.5;
const r = play(tr, { sharing: 'tokens', delayMs: 50 }); const per = []; const t0 = 10000;
let i = 0; for (const n of r.world.nodes.values()) { const l = n.coordinator.lanes.get(0); const s = l.tokens.dimensions[0]; const adm = r.world; console.log('n' + i, 'dem', (at[i] ?? 0).toFixed(0), 'told', l.reported.demand[0].toFixed(1), 'cur', l.current.demand[0].toFixed(1), 'share', s.share.toFixed(1), 'due', s.due.toFixed(1), 'thr', s.isThrottled, 'rate', s.perSecond.toFixed(1), 'L', s.clusterTokens.toFixed(0), 'Lx', s.tokensNow.toFixed(0), 'unheard', s.account.unheard.toFixed(1), 'credit', s.account.credit.toFixed(1), 'take', s.takeable.toFixed(1), 'th', s.threshold.toFixed(1), 'E', s.expected.toFixed(0), 'met', s.met.toFixed(0), 'served', s.served.toFixed(0)); i++; }

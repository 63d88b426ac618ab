import { World } from './dist/sim/cluster/world.js';
const rng = (s0) => { let s = (Number(s0) * 2654435761) % 2147483647 || 1; for (let k = 0; k < 5; k++) s = (s * 16807) % 2147483647; return () => (s = (s * 16807) % 2147483647) / 2147483647; };
export function walk({ seed = 1, N = 5, Q = 590, T = 60, load = 1.1, keys = 50 }) { const rnd = rng(seed), gauss = () => Math.sqrt(-2 * Math.log(rnd() || 1e-9)) * Math.cos(2 * Math.PI * rnd()), c = []; let x = 0, spike = 0;
  for (let t = 0; t < T; t++) { x = 0.9 * x + 0.18 * gauss(); if (spike > 0) spike--; else if (rnd() < 0.02) spike = 2 + Math.floor(rnd() * 8); c.push(Math.exp(x) * (spike ? 4 : 1)); }
  const mean = c.reduce((a, b) => a + b) / T, A = []; let possible = 0; c.forEach((v0, t) => { const v = Math.round(v0 * load * Q / mean); possible += Math.min(v, Q); const ts = Array.from({ length: v }, () => t + rnd()).sort((a, b) => a - b); for (const at of ts) A.push([at, Math.floor(rnd() * keys) % N]); }); return { A, possible, T, N, Q }; }
export function poisson({ seed = 3, N, Q, T, rateOf, extra = [] }) { const rnd = rng(seed), A = [...extra], per = new Float64Array(T + 1); for (let i = 0; i < N; i++) { let t = 0; while (t < T) { const r = rateOf(t, i); if (r <= 1e-9) { t += 0.01; continue; } const dt = -Math.log(rnd() || 1e-12) / r; if (dt > 0.01) { t += 0.01; continue; } t += dt; if (t < T) A.push([t, i]); } }
  A.sort((a, b) => a[0] - b[0]); for (const [t] of A) per[Math.floor(t)]++; return { A, possible: per.reduce((a, v) => a + Math.min(v, Q), 0), T, N, Q }; }
const most = (out, w) => { let i = 0, m = 0; for (let k = 0; k < out.length; k++) { while (out[i] <= out[k] - w) i++; m = Math.max(m, k - i + 1); } return m; };
const GROUP = { name: 'orders', cost: { publish: { total: Infinity, reserved: 0 }, dispatch: { total: Infinity, reserved: 0 } }, expectedCost: 1, ramp: null, nodeCount: 0, strategy: 'max-min', floorRatio: 0.001, allowanceRatio: 0.25, weights: {}, headroom: 'by-weight', smoothingMs: 0, slewPerSecond: Infinity, minShareRatio: 0, maxShareRatio: 1, limiter: 'bucket', windowMs: 1000, burstMs: 100, burstMinMessages: 20, isolation: { policy: 'equal-share', holdMs: 10000 } };
const SETTINGS = { cluster: 'demo', version: 'test', partitions: 1, heartbeatMs: 1000, partitionHeartbeatMs: 5000, stalenessMs: 5000, reportGapMs: 50, forcedReportMs: 300000, significantChangeRatio: 0.1, noiseFactor: 5, sampleIntervalMs: 20, fastSpanMs: 50, slowSpanMs: 5000, isolationAfterMs: 3000, shareValidMs: 4000, forgetAfterMs: 600000, groupsPerRecord: 6, limiting: { mode: 'enforce', split: 'by-usage', zonesLeftOut: 1, contributionRatio: 0.01, healthValidMs: 10000, levelSmoothingMs: 1000, maxBackends: 256 }, costs: { smoothingMs: 10000, forgetAfterMs: 240000, maxLanes: 10000 } };
export function play(tr, { sharing, delayMs = 5, debug, warm = 10000 } = {}) {
  const group = { ...GROUP, quota: { publish: [tr.Q, Infinity], dispatch: [Infinity, Infinity] }, ...(sharing && { sharing }) };
  const half = delayMs / 2;
  const world = new World(7, { ...SETTINGS, groups: [group] }, { appendMs: [half, half], deliveryMs: [half, half] });
  for (let i = 0; i < tr.N; i++) world.start('n' + i);
  world.runFor(warm);
  const t0 = world.nowMs; const out = []; let reports = 0; const per = new Float64Array(tr.N), att = new Float64Array(tr.N);
  const before = world.topic.partitions.map((p) => p.records?.length ?? 0);
  const orig = world.topic.append.bind(world.topic);
  world.topic.append = (c, appends, cb) => { for (const a of appends) if (a.record?.kind === 'report') { reports++; if (debug) debug(world, a, (world.nowMs - t0) / 1000); } return orig(c, appends, cb); };
  for (const [t, i] of tr.A) world.queue.after(10, () => {}) && 0;
  let k = 0; const next = () => { while (k < tr.A.length && t0 + tr.A[k][0] * 1000 <= world.nowMs + 1e-9) { const [t, i] = tr.A[k++]; att[i]++; if (world.ask('n' + i, 0, 1, 0, false)) { out.push(t); per[i]++; } } if (k < tr.A.length) world.queue.after(Math.max(0, t0 + tr.A[k][0] * 1000 - world.nowMs), next); };
  next(); world.runFor(tr.T * 1000);
  return { out, reports: reports / tr.T / tr.N, per, att, world };
}
export const report = (name, tr, r) => console.log(name.padEnd(34), 'over5', ((most(r.out, 5) / (5 * tr.Q) - 1) * 100).toFixed(1).padStart(6), '% worst s', (most(r.out, 1) / tr.Q).toFixed(3), 'used', (r.out.length / tr.possible * 100).toFixed(1), '% rec', r.reports.toFixed(2));
if (import.meta.url === `file://${process.argv[1]}`) {
  for (const N of [3, 5, 10]) for (const delayMs of [5, 50]) for (const seed of [1, 2]) { const tr = walk({ seed, N, Q: 590 }); for (const sharing of [undefined, 'tokens']) report(`N=${N} ${delayMs} ms seed ${seed} ${sharing ?? 'rates'}`, tr, play(tr, { sharing, delayMs })); }
}

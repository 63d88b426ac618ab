import { performance } from 'node:perf_hooks';
import { runScenario } from '../sim/run/run-scenario.js';
import { parseScenario } from '../sim/scenario/load-scenario.js';
import { defaultSettings } from '../sim/scenario/world-settings.js';
import { runSwarm } from '../sim/swarm/run-swarm.js';
import { type System, systemNamed } from '../sim/systems.js';

/**
 * `npm run bench:sim [-- SWARM_RUNS]`: how long the simulator takes, measurement included. Aims: the scenario ≤ 1 s,
 * 1,000 swarm runs ≤ 60 s, each on one core. CPU time stands beside the time of the clock, because a busy machine
 * stretches the latter.
 */
const SCENARIO = `
name: speed
says: Ten nodes, 2,000/s in total.
durationSeconds: 120
nodes: 10
quota: { messagesPerSecond: 1000 }
load:
  - { kind: poisson, ratePerSecond: 200 }
`;

const swarmRuns = Number(process.argv[2] ?? 1000);
const system = systemNamed('max-min') as System;
const scenario = parseScenario(SCENARIO, 'speed.yaml');
for (const says of ['first run', 'second run']) {
  timed(`10 nodes, Poisson 2,000/s, 120 s simulated, ${says}`, () => runScenario(scenario, system, 1));
}
let broken = 0;
const settings = defaultSettings();
timed(`${swarmRuns} swarm runs`, () => {
  for (let seed = 1; seed <= swarmRuns; seed++) if (runSwarm(seed, settings).problems.length > 0) broken++;
});
process.stdout.write(`${broken} of them broke a promise\n`);

function timed(says: string, run: () => unknown): void {
  const startMs = performance.now();
  const cpu = process.cpuUsage();
  run();
  const { user, system: kernel } = process.cpuUsage(cpu);
  const seconds = ((performance.now() - startMs) / 1000).toFixed(2);
  process.stdout.write(`${says}: ${seconds} s, CPU ${((user + kernel) / 1e6).toFixed(2)} s\n`);
}

/**
 * `npm run bench:stores [-- ROUNDS]`: one quota of 1,000/s on two processes, by quotamesh on a Redis topic and by two
 * libraries that count in the same Redis. Rounds take turns; least, median and greatest of the rounds. The processes
 * make their own load, so nobody pays for HTTP; each has run under load for a second before anything is counted.
 */
import { fileURLToPath } from 'node:url';
import { medianOf } from '../src/tools/load/quantile.js';
import { Child } from '../src/tools/processes/child.js';
import { startRedis } from '../test/redis/redis.js';
import { SYSTEMS, type System } from './stores/orders.js';
import { Service } from './stores/service.js';

const ROUNDS = Number(process.argv[2] ?? 3);
const PROGRAM = fileURLToPath(new URL('stores/limited-process.js', import.meta.url));

/** Per system and row: one value a round. */
const values = new Map<System, Map<string, number[]>>(SYSTEMS.map((system) => [system, new Map()]));

for (let round = 0; round < ROUNDS; round++) {
  const order = round % 2 === 0 ? SYSTEMS : SYSTEMS.toReversed();
  for (const system of order) await play(system);
}
for (const row of values.get('quotamesh')?.keys() ?? []) {
  process.stdout.write(`\n${row}: least, median, greatest of ${ROUNDS}\n`);
  for (const system of SYSTEMS) {
    const all = values.get(system)?.get(row) ?? [];
    const shown = [Math.min(...all), medianOf(all), Math.max(...all)].map((value) => value.toFixed(2).padStart(9));
    process.stdout.write(`${system.padEnd(26)}${shown.join('')}\n`);
  }
}

async function play(system: System): Promise<void> {
  const redis = await startRedis();
  const processes = ['a', 'b'].map((id) => new Child([PROGRAM, system, id, `${redis.port}`]));
  try {
    await Promise.all(processes.map((each) => each.next()));
    await new Service(processes, redis, (row, value) => {
      const rows = values.get(system) as Map<string, number[]>;
      rows.set(row, [...(rows.get(row) ?? []), value]);
    }).measure();
  } finally {
    await Promise.all(processes.map((each) => each.stop(5000)));
    await redis.stop();
  }
}

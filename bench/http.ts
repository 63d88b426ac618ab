/**
 * `npm run bench:http`: POST /v1/acquire beside a bare fastify route, in turns, over TCP and a Unix socket. Judged by CPU
 * of the server per request, which a busy machine disturbs less than requests per second.
 */
import { medianOf } from '../src/tools/load/quantile.js';
import { paired, printAim, printHead, printSample } from './limiter/figures.js';
import { measureHttp } from './limiter/http.js';

const http = await measureHttp();
printHead('HTTP, microseconds of CPU of the server per request');
for (const { name, cpuMicros } of http) printSample(name, cpuMicros);
printHead('aims (medians of pairs within a turn)');
for (const { name, bare, cpuMicros } of http) {
  const beside = http.find((other) => other.name === bare);
  if (beside === undefined) continue;
  const ratio = medianOf(paired(beside.cpuMicros, cpuMicros, (one, other) => one / other));
  printAim(`${name} / bare ≥ 0.9, by CPU`, ratio, ratio >= 0.9, 2);
}

import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { medianOf, quantileOf } from '../../src/tools/load/quantile.js';
import { type GoProgram, goProgram } from '../race/contenders/go-program.js';
import { PATH, RateLimitClient } from '../race/contenders/rate-limit-client.js';

/** A service that is asked directly, and for what. */
export interface Asked {
  readonly name: string;
  readonly port: number;
  readonly domain: string;
  readonly key: string;
  readonly value: string;
  pids(): readonly number[];
}

/** Connections of a load, and requests in flight on each. */
export interface Shape {
  readonly connections: number;
  readonly inFlight: number;
}

export interface Answered {
  readonly count: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

const GHZ: GoProgram = { name: 'ghz', package: 'github.com/bojand/ghz/cmd/ghz', version: 'v0.93.0' };
const PROTO_FILE = 'proto/envoy/service/ratelimit/v3/rls.proto';
const TIMEOUT_MS = 120_000;
const run = promisify(execFile);

/** Asks once as Envoy does, with the status of gRPC: h2load looks at that of HTTP alone. */
export async function proveGranted({ port, domain, key, value }: Asked): Promise<void> {
  const client = new RateLimitClient(port, domain, value, key);
  await client.connected;
  const isGranted = await client.ask();
  client.close();
  if (!isGranted) throw new Error(`${domain}, ${key} ${value} is over its limit`);
}

/** Loads by nghttp2's h2load, which takes the least of the cores. */
export async function byH2load({ port, domain, key, value }: Asked, shape: Shape, seconds: number): Promise<Answered> {
  const folder = await mkdtemp(join(tmpdir(), 'quotamesh-bench-'));
  try {
    const [body, log] = [join(folder, 'body'), join(folder, 'log')];
    await writeFile(body, RateLimitClient.requestOf(domain, value, key));
    const load = `-D ${seconds} -c ${shape.connections} -m ${shape.inFlight} -d ${body} --log-file ${log}`.split(' ');
    const headers = ['-H', 'content-type: application/grpc', '-H', 'te: trailers'];
    const url = `http://127.0.0.1:${port}${PATH}`;
    const { stdout } = await run('h2load', load.concat(headers, url), { timeout: TIMEOUT_MS });
    // Start in µs, status, duration in µs.
    const rows = (await readFile(log, 'utf8')).trim().split('\n');
    const tookMs = rows.map((row) => Number(row.split('\t')[2]) / 1000);
    const wrong = rows.filter((row) => row.split('\t')[1] !== '200').length;
    const perSecond = Number(/, ([\d.]+) req\/s/.exec(stdout)?.[1]);
    if (wrong > 0 || !(perSecond > 0)) throw new Error(`${wrong} of ${rows.length} answers are wrong: ${stdout}`);
    return { count: rows.length, perSecond, p50Ms: medianOf(tookMs), p99Ms: quantileOf(tookMs, 0.99) };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Loads by ghz, which checks every status of gRPC, and takes more of the cores than either service. */
export async function byGhz({ port, domain, key, value }: Asked, shape: Shape, seconds: number): Promise<Answered> {
  const program = await goProgram(GHZ);
  const data = JSON.stringify({ domain, descriptors: [{ entries: [{ key, value }] }] });
  const lanes = shape.connections * shape.inFlight;
  const load = `-z ${seconds}s --duration-stop wait --connections ${shape.connections} -c ${lanes} -O json`.split(' ');
  const call = ['--insecure', '--proto', PROTO_FILE, '-i', 'proto', '--call', PATH.slice(1), '-d', data];
  const limits = { timeout: TIMEOUT_MS, maxBuffer: 2 ** 28 };
  const { stdout } = await run(program, load.concat(call, `127.0.0.1:${port}`), limits);
  const { count, rps, latencyDistribution, statusCodeDistribution } = JSON.parse(stdout) as GhzReport;
  const { OK: fine = 0, ...others } = statusCodeDistribution;
  if (fine !== count) throw new Error(`ghz: ${JSON.stringify(others)} of ${count} answers`);
  const at = (percentage: number) =>
    (latencyDistribution.find((each) => each.percentage === percentage)?.latency ?? Number.NaN) / 1e6;
  return { count, perSecond: rps, p50Ms: at(50), p99Ms: at(99) };
}

interface GhzReport {
  readonly count: number;
  readonly rps: number;
  /** Nanoseconds. */
  readonly latencyDistribution: readonly { readonly percentage: number; readonly latency: number }[];
  readonly statusCodeDistribution: Readonly<Record<string, number>>;
}

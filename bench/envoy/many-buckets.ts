import { readFile } from 'node:fs/promises';
import { type ClientHttp2Stream, connect } from 'node:http2';
import { setTimeout as sleep } from 'node:timers/promises';
import { envoy } from '../../src/doors/envoy/generated/messages.js';
import { framed, MessageReader } from '../../src/doors/envoy/grpc/message-reader.js';
import { freePorts } from '../../src/tools/processes/free-ports.js';
import { Cluster } from '../../test/cluster/cluster.js';
import { cpuOf } from '../race/run-contender.js';

const { RateLimitQuotaUsageReports, RateLimitQuotaResponse } = envoy.service.rate_limit_quota.v3;
const BUCKETS = 20_000;
const REPORTS = 3;
const REPORT_EVERY_MS = 5000;
const TOLD_MS = 120_000;
const ANSWER_BYTES_MAX = 16 * 1024 * 1024;
const PATH = '/envoy.service.rate_limit_quota.v3.RateLimitQuotaService/StreamRateLimitQuotas';

/** Opens streams of 20,000 buckets each, one after the other, and prints what a node takes for them. */
export async function measureManyBuckets(streams: number): Promise<void> {
  const [port = 0] = await freePorts(1);
  const keys = { 'edge/user:{id}': { quota: { publish: { messagesPerSecond: 10 } } } };
  const settings = { keys, envoy: { listen: `127.0.0.1:${port}` } };
  const cluster = await Cluster.create({ topic: 'embedded', nodeSettings: settings });
  try {
    await cluster.start('a');
    const { pid } = cluster.node('a').child;
    console.log(`\nnode at rest: ${megabytes(await rssOf(pid))}`);
    const open: QuotaClient[] = [];
    while (open.length < streams) {
      const client = new QuotaClient(port, open.length);
      open.push(client);
      const before = await cpuOf(pid);
      const begunMs = performance.now();
      client.report();
      await client.untilTold();
      const seconds = ((performance.now() - begunMs) / 1000).toFixed(1);
      const cpu = (await cpuOf(pid)) - before;
      console.log(
        `stream ${open.length}: ${client.told.size} of ${BUCKETS} buckets told after ${seconds} s, CPU ${ms(cpu)}`,
      );
      if (client.ended !== null) console.log(`  it ended: ${client.ended}`);
      const reports = await cpuOf(pid);
      for (let report = 0; report < REPORTS; report++) {
        for (const each of open) each.report();
        await sleep(REPORT_EVERY_MS);
      }
      const perReport = ((await cpuOf(pid)) - reports) / REPORTS;
      console.log(`  ${ms(perReport)} of CPU each 5 s, a report of each stream; ${megabytes(await rssOf(pid))}`);
    }
    for (const client of open) client.close();
  } finally {
    await cluster.stop();
  }
}

/** One Envoy, of which every bucket has a request between two reports. */
class QuotaClient {
  readonly told = new Set<string>();
  ended: string | null = null;
  readonly #session;
  readonly #stream: ClientHttp2Stream;
  readonly #report: Buffer;

  constructor(port: number, number: number) {
    const bucketQuotaUsages = Array.from({ length: BUCKETS }, (_, at) => {
      return { bucketId: { bucket: { user: `${number}-${at}` } }, numRequestsAllowed: 1 };
    });
    this.#report = framed(RateLimitQuotaUsageReports.encode({ domain: 'edge', bucketQuotaUsages }).finish());
    this.#session = connect(`http://127.0.0.1:${port}`);
    this.#stream = this.#session.request({ ':method': 'POST', ':path': PATH, 'content-type': 'application/grpc' });
    const reader = new MessageReader(ANSWER_BYTES_MAX, { bytes: 0, max: Infinity }, (message) => this.#take(message));
    this.#stream.on('data', (chunk: Buffer) => reader.push(chunk));
    this.#stream.on('trailers', (trailers) => this.#end(String(trailers['grpc-message'])));
    this.#stream.on('response', (headers) => headers['grpc-status'] && this.#end(String(headers['grpc-message'])));
    this.#stream.on('error', ({ message }) => this.#end(message));
  }

  report(): void {
    if (this.ended === null) this.#stream.write(this.#report);
  }

  async untilTold(): Promise<void> {
    const givenUpAt = performance.now() + TOLD_MS;
    while (this.told.size < BUCKETS && this.ended === null && performance.now() < givenUpAt) await sleep(20);
  }

  close(): void {
    this.#session.destroy();
  }

  #take(message: Uint8Array): void {
    for (const { bucketId, quotaAssignmentAction } of RateLimitQuotaResponse.decode(message).bucketAction) {
      if (quotaAssignmentAction != null) this.told.add(bucketId?.bucket?.user ?? '');
    }
  }

  #end(reason: string): void {
    this.ended ??= reason;
  }
}

/** Reads the resident memory of a process; NaN where there is no /proc. */
async function rssOf(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return 1024 * Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]);
}

function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1e6)} MB resident`;
}

function ms(micros: number): string {
  return `${Math.round(micros / 1000)} ms`;
}

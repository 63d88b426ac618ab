import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { ExporterPageReader, readExporter } from '../../../src/doors/kafka-quotas/exporter-page.js';

const METRICS = {
  producerRate: 'kafka_server_produce_byte_rate',
  producerThrottle: 'kafka_server_produce_throttle_time',
  consumerRate: 'kafka_server_fetch_byte_rate',
  consumerThrottle: 'kafka_server_fetch_throttle_time',
  userLabel: 'user',
  clientIdLabel: 'client_id',
};

/** As the exporter writes it, with what a page has besides. */
const PAGE = `# HELP kafka_server_fetch_byte_rate kafka.server:name=null,type=Fetch,attribute=byte-rate
# TYPE kafka_server_fetch_byte_rate untyped
kafka_server_fetch_byte_rate{client_id="reader",} 1234.5
kafka_server_produce_byte_rate{client_id="app",} 250537.0
kafka_server_produce_byte_rate{client_id="app",user="alice",} 17.0 1700000000000
kafka_server_produce_byte_rate{user="alice",} 4.0E2
kafka_server_produce_throttle_time{client_id="app",} 49.5
kafka_server_produce_throttle_time{user="alice",} NaN
kafka_server_produce_byte_rate 99.0
kafka_server_produce_byte_rate_total{client_id="app",} 1.0
jvm_memory_used_bytes{area="heap",} 1.0E8
`;

function produced(user: string | null, clientId: string | null, rate: number, throttleMs = 0) {
  return { entity: { user, clientId }, name: 'producer_byte_rate', reading: { rate, throttleMs } };
}

function consumed(clientId: string, rate: number) {
  return { ...produced(null, clientId, rate), name: 'consumer_byte_rate' };
}

function read(page: string, chunkBytes = page.length, metrics = METRICS) {
  const reader = new ExporterPageReader(metrics);
  const bytes = Buffer.from(page);
  for (let at = 0; at < bytes.length; at += chunkBytes) reader.push(bytes.subarray(at, at + chunkBytes));
  reader.end();
  return { problem: reader.problem, readings: reader.readings };
}

describe('a page', () => {
  test('tells producers from consumers by a label where they share a metric', () => {
    const page = `byte_rate{clientId="app",resource="Produce"} 800000.0
byte_rate{clientId="app",resource="Fetch"} 5.0
byte_rate{clientId="app",resource="Request"} 7.0
byte_rate{clientId="app"} 9.0
throttle_time{resource="Produce",clientId="app",} 120.0
throttle_time{clientId="app",resource="Fetch"} 0.0
`;
    const by = (metric: string, resource: string) => `${metric}{resource="${resource}"}`;
    const metrics = {
      producerRate: by('byte_rate', 'Produce'),
      producerThrottle: by('throttle_time', 'Produce'),
      consumerRate: by('byte_rate', 'Fetch'),
      consumerThrottle: by('throttle_time', 'Fetch'),
      userLabel: 'user',
      clientIdLabel: 'clientId',
    };
    const readings = [produced(null, 'app', 800_000, 120), consumed('app', 5)];
    expect(read(page, page.length, metrics).readings).toEqual(readings);
  });

  test.each([1, 7, 4096])('has rates and waits by user and client id, in pieces of %d bytes', (chunkBytes) => {
    expect(read(PAGE, chunkBytes)).toEqual({
      problem: null,
      readings: [
        consumed('reader', 1234.5),
        produced(null, 'app', 250_537, 49.5),
        produced('alice', 'app', 17),
        produced('alice', null, 400),
      ],
    });
  });

  test('what the clock of a broker says is not read: an hour off, or none', () => {
    const rateAt = (time: string) => read(`kafka_server_produce_byte_rate{client_id="app"} 5${time}\n`).readings;
    const hourMs = 3_600_000;
    expect(rateAt('')).toHaveLength(1);
    for (const atMs of [Date.now() - hourMs, Date.now() + hourMs, -1]) expect(rateAt(` ${atMs}`)).toEqual(rateAt(''));
  });

  test('the last line needs no end', () => {
    expect(read('kafka_server_produce_byte_rate{client_id="app"} 5').readings[0]?.reading.rate).toBe(5);
  });

  test.each([
    [String.raw`client_id="a \"b\" \\ c"`, { user: null, clientId: String.raw`a "b" \ c` }],
    [String.raw`client_id="\"a:b,c=d\""`, { user: null, clientId: 'a:b,c=d' }],
    ['client_id="größe 日"', { user: null, clientId: 'größe 日' }],
    ['user="CN%3Dapp%2COU%3Dx"', { user: 'CN=app,OU=x', clientId: null }],
    ['user="100%"', { user: '100%', clientId: null }],
    ['client_id="a}b"', { user: null, clientId: 'a}b' }],
  ])('a name in %s', (labels, { user, clientId }) => {
    const { readings } = read(`kafka_server_produce_byte_rate{${labels}} 5\n`, 3);
    expect(readings).toEqual([produced(user, clientId, 5)]);
  });

  test.each(['-1.0', '+Inf', '1e300', 'many', ''])('a rate of "%s" is named, and is no rate', (value) => {
    const { problem, readings } = read(`kafka_server_produce_byte_rate{client_id="app"} ${value}\n`);
    expect(problem).toBe(`kafka_server_produce_byte_rate of client-id app is ${value || 'missing'}`);
    expect(readings).toEqual([]);
  });

  test('garbage is no reading', () => {
    for (const junk of [
      '{',
      'kafka_server_produce_byte_rate{',
      '\0\n\r\n',
      'kafka_server_produce_byte_rate{a="b',
      '<html>',
    ]) {
      expect(read(junk).readings).toEqual([]);
    }
  });
});

describe('an exporter', () => {
  let server: Server | undefined;
  afterEach(() => server?.close());

  async function serve(
    answer: (write: (chunk: string) => boolean, end: () => void) => void,
    status = 200,
  ): Promise<string> {
    const listening = createServer((_, response) => {
      response.writeHead(status);
      answer(
        (chunk) => response.write(chunk),
        () => response.end(),
      );
    });
    server = listening;
    await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(listening.address() as AddressInfo).port}/metrics`;
  }

  const SETTINGS = { timeoutMs: 20_000, maxPageBytes: 67_108_864, metrics: METRICS };

  test('with a page of 20 MB is read line by line: what is kept of it is what it says of clients', async () => {
    const filler = `${'jvm_something{some="label"} 1.0\n'.repeat(2000)}`;
    const url = await serve((write, end) => {
      for (let bytes = 0; bytes < 20_000_000; bytes += filler.length) write(filler);
      write('kafka_server_produce_byte_rate{client_id="app"} 5\n');
      end();
    });
    const { readings, problem } = await readExporter(url, SETTINGS);
    expect({ problem, readings: readings?.length }).toEqual({ problem: null, readings: 1 });
  });

  test('with a larger page than is allowed, and with one endless line', async () => {
    const url = await serve((write, end) => {
      for (let at = 0; at < 10; at++) write('x'.repeat(1_000_000));
      end();
    });
    expect((await readExporter(url, { ...SETTINGS, maxPageBytes: 1_000_000 })).problem).toContain(
      'maxPageBytes = 1000000',
    );
    expect(await readExporter(url, SETTINGS)).toMatchObject({ readings: [], problem: null });
  });

  test('that hangs in the middle of its page is told after the timeout', async () => {
    const url = await serve((write) => void write('kafka_server_produce_byte_rate{client_id="app"} 5\n'));
    const page = await readExporter(url, { ...SETTINGS, timeoutMs: 100 });
    expect(page).toEqual({ exporter: url, readings: null, problem: 'no whole page within 100 ms' });
    server?.closeAllConnections();
  });

  test('that answers with an error, or not at all', async () => {
    expect((await readExporter(await serve((_, end) => end(), 500), SETTINGS)).problem).toBe('status 500');
    expect((await readExporter('http://127.0.0.1:1/metrics', SETTINGS)).problem).toBeTruthy();
  });
});

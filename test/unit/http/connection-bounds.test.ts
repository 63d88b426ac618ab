import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { OtherConstants } from '../../../src/config/resolved/constants.js';
import { needs } from '../../../src/doors/http/route/route-access.js';
import { listen } from '../../../src/doors/http/server/http-server.js';
import { type HttpScene, httpScene } from './http-scene.js';
import { Client, until } from './raw-client.js';

/** More than the kernel takes of an answer that nobody reads. */
const LARGE_BYTES = 24 * 1024 * 1024;
const ACQUIRE = 'POST /v1/acquire HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n';
const LIVEZ = 'GET /livez HTTP/1.1\r\nhost: x\r\n\r\n';
const WAIT = waiting('orders', 55_000);

describe('requests of one connection', () => {
  it('are answered one after the other, in their order, as many as may wait', async () => {
    const { connection, scene } = await connected({ maxPipelined: 3 });
    connection.write(`${LIVEZ}GET /nope HTTP/1.1\r\nhost: x\r\n\r\n${LIVEZ}${LIVEZ}`);
    await connection.until(() => statuses(connection.text).length === 4);
    expect(statuses(connection.text)).toEqual([200, 404, 200, 200]);
    expect(scene.counts.ended.pipelined).toBe(0);
    expect(scene.counts.heldBytes).toBe(0);
  });

  it('the second is not begun before the first is answered', async () => {
    const { connection, scene } = await connected({});
    connection.write(waiting('orders', 300) + waiting('orders', 300));
    await connection.until(() => statuses(connection.text).length === 1);
    await sleep(100);
    expect(scene.node.gate.waiting.count).toBe(1);
    await connection.until(() => statuses(connection.text).length === 2);
    expect(statuses(connection.text)).toEqual([503, 503]);
  });

  it('one more than may wait ends the connection, whether it comes at once or later', async () => {
    const { connection, scene, another } = await connected({ maxPipelined: 2 });
    connection.write(WAIT + LIVEZ.repeat(3));
    await connection.closed;
    expect(connection.text).toBe('');
    const slow = await another();
    slow.write(WAIT + LIVEZ.repeat(2));
    await sleep(100);
    expect(slow.isClosed).toBe(false);
    expect(scene.counts.heldBytes).toBeGreaterThan(2000);
    slow.write(LIVEZ);
    await slow.closed;
    expect(scene.counts).toMatchObject({ open: 0, heldBytes: 0, ended: { pipelined: 2 } });
    // The acquires that they came with do not wait for anybody now.
    await until(() => scene.node.gate.waiting.count === 0);
  });

  it.each([
    ['without a host', 'GET /livez HTTP/1.1\r\n\r\n', 400],
    ['with an expectation that nobody knows', 'GET /livez HTTP/1.1\r\nhost: x\r\nexpect: x\r\n\r\n', 417],
  ] as const)('%s are bounded like any other, and refused when it is their turn', async (_, request, status) => {
    const { connection, scene, another } = await connected({ maxPipelined: 2 });
    connection.write(LIVEZ + request + LIVEZ);
    await connection.closed;
    expect(statuses(connection.text)).toEqual([200, status]);
    expect(connection.text).toContain('"code":"REQUEST_INVALID"');
    const many = await another();
    many.write(WAIT + request.repeat(3));
    await many.closed;
    expect(many.text).toBe('');
    expect(scene.counts).toMatchObject({ open: 0, heldBytes: 0, ended: { pipelined: 1 } });
  });

  it('a body in chunks of one byte is what it is in one', async () => {
    const { connection, scene } = await connected({});
    const wait = waiting('orders', 100);
    const body = wait.slice(wait.indexOf('{')).replace('orders', 'wörter');
    const chunks = [...Buffer.from(body, 'utf8')].map((byte) => `1\r\n${String.fromCharCode(byte)}\r\n`).join('');
    const request = `${ACQUIRE}transfer-encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`;
    connection.write(Buffer.from(request + request, 'latin1'));
    await connection.until(() => statuses(connection.text).length === 2);
    expect(connection.text).toContain(Buffer.from('wörter', 'utf8').toString('latin1'));
    expect(scene.counts.ended.pipelined).toBe(0);
  });

  it.each([
    ['large fields', `GET /livez HTTP/1.1\r\nhost: x\r\nx: ${'y'.repeat(12_000)}\r\n\r\n`],
    ['bodies that are not asked for yet', `${ACQUIRE}content-length: 12000\r\n\r\n${' '.repeat(12_000)}`],
  ])('few with %s are as bad as many', async (_, request) => {
    const { connection, scene } = await connected({ maxPipelined: 1000 });
    connection.write(WAIT);
    for (let sent = 0; sent < 12 && !connection.isClosed; sent++) {
      connection.write(request);
      await sleep(10);
    }
    await connection.closed;
    expect(scene.counts.ended.pipelined).toBe(1);
  });
});

describe('answers that nobody takes', () => {
  it('end their connection after notReadingMs', async () => {
    const { connection, scene } = await connected({ notReadingMs: 1000 });
    connection.pause();
    connection.write('GET /large HTTP/1.1\r\nhost: x\r\n\r\n');
    await until(() => scene.counts.heldBytes > 0);
    expect(scene.counts.heldBytes).toBe(LARGE_BYTES);
    await until(() => scene.counts.ended['not-reading'] === 1);
    expect(scene.counts.heldBytes).toBe(0);
    expect(scene.log.filter(({ message }) => message === 'connections ended')).toMatchObject([
      { level: 'warn', facts: { listener: 'http', 'not-reading': 1, lastAddress: '127.0.0.1' } },
    ]);
    expect(scene.counts.ended['held-full']).toBe(0);
  });

  it('that are taken end no connection', async () => {
    const { connection, scene } = await connected({ notReadingMs: 20_000 });
    connection.write('GET /large HTTP/1.1\r\nhost: x\r\n\r\n');
    await until(() => connection.bytes > LARGE_BYTES);
    await until(() => scene.counts.heldBytes === 0);
    expect([connection.isClosed, scene.counts.ended['not-reading']]).toEqual([false, 0]);
  });

  it('of all connections have one budget: beyond it the one that has held for longest goes', async () => {
    const { connection, scene, another } = await connected({ maxHeldBytes: LARGE_BYTES + 1 });
    connection.pause();
    connection.write('GET /large HTTP/1.1\r\nhost: x\r\n\r\n');
    await until(() => scene.counts.heldBytes > 0);
    const second = await another();
    second.pause();
    second.write('GET /large HTTP/1.1\r\nhost: x\r\n\r\n');
    await until(() => scene.counts.ended['held-full'] === 1);
    connection.resume();
    await connection.closed;
    expect(connection.bytes).toBeLessThan(LARGE_BYTES);
    expect(scene.counts.heldBytes).toBe(LARGE_BYTES);
    second.resume();
    await second.until(() => second.bytes > LARGE_BYTES);
  });

  it('and so have large bodies on their way', async () => {
    const { connection, scene, another } = await connected({ maxHeldBytes: 1_048_576 });
    const body = JSON.stringify({ requests: [{ group: 'orders', messages: 1 }] }).padEnd(250_000);
    const fields = `host: x\r\ncontent-type: application/json\r\ncontent-length: ${body.length}`;
    const request = `POST /v1/acquire/bulk HTTP/1.1\r\n${fields}\r\n\r\n${body}`;
    connection.write(request.slice(0, -1));
    await until(() => scene.counts.heldBytes === 250_000);
    const others = await Promise.all(Array.from({ length: 4 }, another));
    for (const other of others) other.write(request.slice(0, -1));
    await connection.closed;
    expect(scene.counts).toMatchObject({ heldBytes: 1_000_000, ended: { 'held-full': 1 } });
    for (const other of others) other.write(request.slice(-1));
    for (const other of others) await other.until(() => other.text.includes('"answers"'));
    await until(() => scene.counts.heldBytes === 0);
  });

  it('what is the same for everybody is made once', async () => {
    const { scene } = await connected({});
    const bodies = async (url: string) =>
      [await scene.app.inject({ url }), await scene.app.inject({ url })].map(({ body }) => JSON.parse(body));
    const swagger = scene.app.swagger;
    let made = 0;
    scene.app.swagger = ((...how: []) => {
      made++;
      return swagger(...how);
    }) as typeof swagger;
    const [first, second] = await bodies('/openapi.json');
    expect(second).toEqual(first);
    expect(first.paths['/v1/acquire']).toBeDefined();
    expect(made).toBe(1);
  });
});

describe('connections', () => {
  it('beyond maxConnections take the place of one that asks nothing, first of one that never did', async () => {
    const { connection, scene, another } = await connected({}, 2);
    connection.write(LIVEZ);
    await connection.until(() => connection.text !== '');
    const silent = await another();
    const third = await another();
    await silent.closed;
    expect(connection.isClosed).toBe(false);
    third.write(LIVEZ);
    await third.until(() => third.text !== '');
    const fourth = await another();
    await connection.closed;
    fourth.write(LIVEZ);
    await fourth.until(() => fourth.text !== '');
    expect(scene.counts).toMatchObject({ ended: { 'idle-full': 2, full: 0 } });
  });

  it('where all are busy, the newcomer is closed', async () => {
    const { connection, scene, another } = await connected({}, 2);
    connection.write(WAIT);
    const other = await another();
    other.write(WAIT);
    await until(() => scene.node.gate.waiting.count === 2);
    const third = await another();
    await third.closed;
    expect(scene.counts).toMatchObject({ ended: { 'idle-full': 0, full: 1 } });
    expect([connection.isClosed, other.isClosed]).toEqual([false, false]);
  });

  it('are counted in the metrics', async () => {
    const { connection, scene } = await connected({ maxPipelined: 0 });
    connection.write(WAIT + LIVEZ);
    await connection.closed;
    const text = await scene.metrics.text();
    expect(text).toContain('quotamesh_http_connections_ended_total{reason="pipelined"} 1');
    expect(text).toContain('quotamesh_http_held_bytes 0');
  });
});

function waiting(group: string, waitMs: number): string {
  const body = JSON.stringify({ group, messages: 1, waitMs });
  return `${ACQUIRE}content-length: ${body.length}\r\n\r\n${body}`;
}

function statuses(text: string): number[] {
  return [...text.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => Number(status));
}

interface Connected {
  readonly connection: Client;
  readonly scene: HttpScene;
  another(): Promise<Client>;
}

/** The node has not started: whoever may wait does. */
async function connected(http: NonNullable<OtherConstants['http']>, maxConnections = 10_000): Promise<Connected> {
  const scene = await httpScene({ http: { port: 0, maxConnections }, constants: { http } });
  scene.app.get('/large', { config: { access: needs('open') } }, (_, reply) => reply.send('x'.repeat(LARGE_BYTES)));
  const port = Number(new URL(await listen(scene.app, scene.node)).port);
  const clients: Client[] = [];
  onTestFinished(async () => {
    for (const client of clients) client.destroy();
    await scene.close();
  });
  const another = async () => {
    const client = await Client.open(port);
    clients.push(client);
    return client;
  };
  return { connection: await another(), scene, another };
}

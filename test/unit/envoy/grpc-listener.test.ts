import { once } from 'node:events';
import { constants } from 'node:http2';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { timeoutMsOf } from '../../../src/doors/envoy/grpc/grpc-deadline.js';
import { GRPC_STATUS } from '../../../src/doors/envoy/grpc/grpc-status.js';
import { framed } from '../../../src/doors/envoy/grpc/message-reader.js';
import { AUTH, bearer, TOKENS } from '../access/access-scene.js';
import { until } from '../http/raw-client.js';
import { GrpcClient } from './grpc-client.js';
import { ECHO, ECHO_STREAM, type GrpcScene, grpcScene, MAX_REQUEST_BYTES } from './grpc-scene.js';

const open: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

async function scene(...options: Parameters<typeof grpcScene>): Promise<GrpcScene> {
  const made = await grpcScene(...options);
  open.push(() => made.listener.close());
  return made;
}

async function client({ url }: GrpcScene): Promise<GrpcClient> {
  const made = await GrpcClient.open(url);
  open.push(() => made.close());
  return made;
}

const text = (message: string) => Buffer.from(message);

describe('calls', () => {
  test('many at once on one connection are answered, each with its own message', async () => {
    const made = await scene();
    const asking = await client(made);
    const sent = Array.from({ length: 300 }, (_, at) => `message ${at}`);
    const answers = await Promise.all(sent.map((message) => asking.ask(ECHO, text(message))));
    expect(answers.map(({ status, messages }) => `${status} ${messages.join()}`)).toEqual(
      sent.map((message) => `0 ${message}`),
    );
    expect(made.listener.openCalls).toBe(0);
  });

  test('a message in single bytes, and several in one piece', async () => {
    const made = await scene();
    const asking = await client(made);
    const call = asking.call(ECHO);
    for (const byte of framed(text('byte by byte'))) {
      call.stream.write(Buffer.of(byte));
      await new Promise(setImmediate);
    }
    call.stream.end();
    expect((await call.ended).messages.join()).toBe('byte by byte');
    const stream = asking.call(ECHO_STREAM);
    const [one, two] = [framed(text('one')), framed(text('two'))];
    stream.stream.write(Buffer.concat([one, two, one.subarray(0, 3)]));
    expect(String(await stream.message(1))).toBe('two');
    stream.stream.end(one.subarray(3));
    expect(await stream.ended).toMatchObject({ status: 0, messages: [text('one'), text('two'), text('one')] });
    await until(() => made.closed.length === 1);
    expect(made.listener.counts.heldBytes).toBe(0);
  });

  test.each([
    ['an unknown method', 'UNIMPLEMENTED', 'has no method /test.Echo/Other', { path: '/test.Echo/Other' }],
    ['gzip by metadata', 'UNIMPLEMENTED', 'grpc-encoding: gzip', { metadata: { 'grpc-encoding': 'gzip' } }],
    ['gzip by flag', 'UNIMPLEMENTED', 'by the flag', { body: Buffer.of(1, 0, 0, 0, 1, 65) }],
    ['JSON', 'INVALID_ARGUMENT', 'content-type application/grpc', { metadata: { 'content-type': 'text/json' } }],
    ['no message', 'INVALID_ARGUMENT', 'ends before its message', { body: Buffer.alloc(0) }],
    ['half a message', 'INVALID_ARGUMENT', 'ends before its message', { body: Buffer.of(0, 0, 0, 0, 9, 65) }],
    ['a message and a half', 'INVALID_ARGUMENT', 'ends before', { body: Buffer.of(0, 0, 0, 0, 1, 65, 0, 0) }],
    ['two messages', 'INVALID_ARGUMENT', 'several messages', { body: Buffer.of(0, 0, 0, 0, 1, 65, 0, 0, 0, 0, 1, 65) }],
    ['a large message', 'RESOURCE_EXHAUSTED', `larger than ${MAX_REQUEST_BYTES}`, { body: framed(Buffer.alloc(1001)) }],
    ['a length of 4 GB', 'RESOURCE_EXHAUSTED', 'larger than', { body: Buffer.of(0, 255, 255, 255, 255) }],
    ['a defect of ours', 'INTERNAL', 'a defect', { body: Buffer.of(0, 0, 0, 0, 0) }],
  ] as const)(
    '%s is answered with %s',
    async (_, status, reason, { path = ECHO, metadata = {}, body = framed(text('x')) }: Asked) => {
      const asking = await client(await scene());
      const call = asking.call(path, metadata);
      call.stream.end(body);
      const ended = await call.ended;
      expect(ended).toMatchObject({ status: GRPC_STATUS[status], text: expect.stringContaining(reason) });
      // The connection goes on.
      expect((await asking.ask(ECHO, text('after'))).messages.join()).toBe('after');
    },
  );

  test('a message is answered before the client ends, whose stream is over then', async () => {
    const made = await scene();
    const asking = await client(made);
    const call = asking.call(ECHO);
    call.send(text('and no end'));
    expect(await call.ended).toMatchObject({ status: 0, messages: [text('and no end')] });
    expect(made.listener.openCalls).toBe(0);
  });

  test('a call that the client gives up is forgotten, with what it held', async () => {
    const made = await scene();
    const call = (await client(made)).call(ECHO);
    call.stream.write(Buffer.of(0, 0, 0, 0, 9, 65));
    await until(() => made.listener.counts.heldBytes > 0);
    call.stream.close(constants.NGHTTP2_CANCEL);
    await until(() => made.listener.openCalls === 0);
    expect(made.listener.counts.heldBytes).toBe(0);
  });

  test('the deadline ends what has not arrived, by the client or by us', async () => {
    const made = await scene({}, { arrivalMs: 50 });
    const asking = await client(made);
    const calls = [asking.call(ECHO, { 'grpc-timeout': '20m' }), asking.call(ECHO)];
    for (const call of calls) call.stream.write(Buffer.of(0, 0, 0, 0, 9, 65));
    for (const { ended } of calls) expect((await ended).status).toBe(GRPC_STATUS.DEADLINE_EXCEEDED);
    // A stream without a deadline has none.
    const stream = asking.call(ECHO_STREAM);
    await sleep(200);
    stream.send(text('late'));
    expect(String(await stream.message(0))).toBe('late');
    expect(made.asked).toEqual([]);
  });

  test.each([
    ['20m', 20],
    ['1S', 1000],
    ['3M', 180_000],
    ['1H', 3_600_000],
    ['500u', 0.5],
    ['7n', 7e-6],
    ['123456789m', null],
    ['m', null],
    [undefined, null],
  ])('grpc-timeout %s is %s ms', (written, ms) => expect(timeoutMsOf(written)).toEqual(ms));
});

interface Asked {
  readonly path?: string;
  readonly metadata?: object;
  readonly body?: Buffer;
}

describe('who may ask', () => {
  test.each([
    ['no token', {}, 'UNAUTHENTICATED', 'no metadata `authorization`'],
    ['no Bearer', { authorization: 'Basic eA==' }, 'UNAUTHENTICATED', 'no Bearer token'],
    ['an unknown token', bearer('qm_unknown'), 'UNAUTHENTICATED', 'not known'],
    ['a viewer', bearer(TOKENS.viewer), 'PERMISSION_DENIED', 'takes the role traffic'],
  ] as const)('%s is refused', async (_, metadata, status, reason) => {
    const made = await scene({ auth: AUTH });
    const asking = await client(made);
    const ended = await asking.ask(ECHO, text('x'), metadata);
    expect(ended).toMatchObject({ status: GRPC_STATUS[status], text: expect.stringContaining(reason) });
    expect(made.asked).toEqual([]);
  });

  test('a token of the role is let in, and its stream ends with it', async () => {
    const made = await scene({ auth: AUTH });
    const asking = await client(made);
    expect((await asking.ask(ECHO, text('x'), bearer(TOKENS.traffic))).status).toBe(0);
    expect(made.asked).toEqual(['traffic: x']);
    const stream = asking.call(ECHO_STREAM, bearer(TOKENS.traffic));
    stream.send(text('before'));
    await stream.message(0);
    made.takeAuth({ tokens: AUTH.tokens.filter(({ name }) => name !== 'traffic') });
    expect((await stream.ended).status).toBe(GRPC_STATUS.UNAUTHENTICATED);
    expect((await asking.ask(ECHO, text('x'), bearer(TOKENS.traffic))).status).toBe(GRPC_STATUS.UNAUTHENTICATED);
  });

  test('too many failed attempts are limited', async () => {
    const made = await scene({ auth: AUTH });
    const asking = await client(made);
    for (let tries = 0; tries < 30; tries++) await asking.ask(ECHO, text('x'), bearer(`qm_wrong-${tries}`));
    const ended = await asking.ask(ECHO, text('x'), bearer('qm_wrong'));
    expect(ended).toMatchObject({ status: GRPC_STATUS.RESOURCE_EXHAUSTED, text: expect.stringContaining('too many') });
  });
});

describe('bounds', () => {
  test('metadata beyond the bound is refused, the connection goes on', async () => {
    const made = await scene();
    const asking = await client(made);
    const large = await asking.ask(ECHO, text('x'), { large: 'x'.repeat(17_000) });
    expect(large).toMatchObject({ status: GRPC_STATUS.RESOURCE_EXHAUSTED, text: expect.stringContaining('metadata') });
    const many = Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`field-${at}`, 'x']));
    // node:http2 resets the stream itself.
    expect((await asking.ask(ECHO, text('x'), many)).status).toBe(-1);
    expect(made.asked).toEqual([]);
    expect((await asking.ask(ECHO, text('x'))).status).toBe(0);
  });

  test('clients are told how many streams a connection may have, and more are refused', async () => {
    const made = await scene({}, { maxStreams: 3 });
    const asking = await client(made);
    await until(() => asking.session.remoteSettings.maxConcurrentStreams === 3);
    // node:http2 sends the fourth once another has ended.
    const streams = [0, 1, 2, 3].map(() => asking.call(ECHO_STREAM));
    for (const stream of streams) stream.send(text('x'));
    await until(() => made.streams.length === 3);
    await sleep(100);
    expect(made.streams).toHaveLength(3);
    streams[0]?.stream.end();
    await until(() => made.streams.length === 4);
  });

  test('a connection beyond the bound is ended', async () => {
    const made = await scene({}, { maxConnections: 2 });
    const [first] = [await client(made), await client(made)];
    const third = await GrpcClient.open(made.url).catch(() => null);
    if (third !== null) await until(() => third.session.destroyed);
    expect((await first.ask(ECHO, text('x'))).status).toBe(0);
    expect(made.listener.counts.ended['too-many-connections']).toBe(1);
    expect(made.listener.connections).toBe(2);
  });

  test('unfinished messages of all streams hold no more than the bound', async () => {
    const made = await scene({}, { maxHeldBytes: 5000 });
    const asking = await client(made);
    const begun = Array.from({ length: 8 }, () => asking.call(ECHO));
    for (const { stream } of begun) stream.write(framed(Buffer.alloc(900)).subarray(0, 890));
    const first = await Promise.race(begun.map(({ ended }) => ended));
    expect(first).toMatchObject({ status: GRPC_STATUS.RESOURCE_EXHAUSTED });
    expect(made.listener.counts.heldBytes).toBeLessThanOrEqual(5000);
    // Without an error code node:http2 sends for ever, in Node 20.
    for (const { stream } of begun) stream.close(constants.NGHTTP2_CANCEL);
    await until(() => made.listener.counts.heldBytes === 0);
  });

  test('a client that reads nothing is cut off', async () => {
    const made = await scene({}, { maxHeldBytes: 100_000 });
    const asking = await client(made);
    const stream = asking.call(ECHO_STREAM);
    stream.send(text('x'));
    await stream.message(0);
    stream.stream.pause();
    const [serving] = made.streams;
    for (let sent = 0; sent < 1000 && serving?.isOpen; sent++) {
      serving.send(Buffer.alloc(10_000));
      await new Promise(setImmediate);
    }
    await until(() => made.closed.length === 1);
    expect((await asking.ask(ECHO, text('x'))).status).toBe(0);
  });

  test('a peer that answers no ping is ended', async () => {
    const made = await scene({}, { pingEveryMs: 200 });
    const good = await client(made);
    const port = Number(new URL(made.url.replace('grpc', 'http')).port);
    const socket = connect(port, '127.0.0.1');
    open.push(async () => void socket.destroy());
    socket.on('error', () => undefined).resume();
    // The preface and empty settings, and then silence.
    socket.write(Buffer.concat([text('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), Buffer.of(0, 0, 0, 4, 0, 0, 0, 0, 0)]));
    await once(socket, 'close');
    expect(made.listener.counts.ended['no-answer']).toBe(1);
    expect((await good.ask(ECHO, text('x'))).status).toBe(0);
  });

  test('what is no HTTP/2 ends its own connection', async () => {
    const made = await scene();
    const port = Number(new URL(made.url.replace('grpc', 'http')).port);
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => undefined).resume();
    socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
    await once(socket, 'close');
    expect((await (await client(made)).ask(ECHO, text('x'))).status).toBe(0);
  });
});

describe('the end', () => {
  test('clients are told to go first, requests under way are answered, streams ended', async () => {
    const made = await grpcScene();
    const asking = await GrpcClient.open(made.url);
    const stream = asking.call(ECHO_STREAM);
    stream.send(text('x'));
    await stream.message(0);
    const slow = asking.call(ECHO);
    slow.stream.write(framed(text('slow')).subarray(0, 6));
    await until(() => made.listener.openCalls === 2);
    const told = once(asking.session, 'goaway');
    const closed = made.listener.close();
    await told;
    slow.stream.end(framed(text('slow')).subarray(6));
    expect((await slow.ended).messages.join()).toBe('slow');
    expect(await stream.ended).toMatchObject({
      status: GRPC_STATUS.UNAVAILABLE,
      text: expect.stringContaining('it stops'),
    });
    await closed;
    expect(made.closed).toEqual([0]);
    await until(() => made.listener.connections === 0);
    await expect(GrpcClient.open(made.url)).rejects.toThrow();
  });

  test('a request that never arrives does not hold the end up', async () => {
    const made = await grpcScene();
    const asking = await GrpcClient.open(made.url);
    asking.call(ECHO).stream.write(Buffer.of(0));
    await until(() => made.listener.openCalls === 1);
    await made.listener.close();
    expect(made.listener.openCalls).toBe(0);
  });

  test('a client that takes nothing does not hold the end up', async () => {
    const made = await grpcScene();
    const asking = await GrpcClient.open(made.url);
    const stream = asking.call(ECHO_STREAM);
    stream.send(text('x'));
    await stream.message(0);
    stream.stream.pause();
    for (let sent = 0; sent < 100; sent++) made.streams[0]?.send(Buffer.alloc(10_000));
    await made.listener.close();
    expect(made.closed).toEqual([0]);
    await asking.close();
  });

  test('a taken address is told as such', async () => {
    const made = await scene();
    const { host } = new URL(made.url.replace('grpc', 'http'));
    await expect(grpcScene({ envoy: { listen: host } })).rejects.toMatchObject({ code: 'ADDRESS_IN_USE' });
  });
});

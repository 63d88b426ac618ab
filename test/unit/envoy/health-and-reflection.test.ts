import { createRequire } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { envoy, grpc } from '../../../src/doors/envoy/generated/messages.js';
import type { UnaryFacts } from '../../../src/doors/envoy/grpc/grpc-method.js';
import { GRPC_STATUS } from '../../../src/doors/envoy/grpc/grpc-status.js';
import { HealthService, PEERS_MAX } from '../../../src/doors/envoy/grpc/health-service.js';
import { ReflectionService } from '../../../src/doors/envoy/grpc/reflection-service.js';
import { AUTH } from '../access/access-scene.js';
import { GrpcClient } from './grpc-client.js';
import { grpcScene } from './grpc-scene.js';

const { HealthCheckRequest, HealthCheckResponse } = grpc.health.v1;
const { ServerReflectionRequest, ServerReflectionResponse } = grpc.reflection.v1;
const require = createRequire(import.meta.url);
const { Root } = require('protobufjs');
const { FileDescriptorSet, FileDescriptorProto } = require('protobufjs/ext/descriptor');

let close = async (): Promise<void> => undefined;
afterEach(() => close());

async function asking(options: Parameters<typeof grpcScene>[0] = {}) {
  const state = { isServing: true };
  const health = new HealthService(['test.Echo'], () => state.isServing);
  const reflection = new ReflectionService(['envoy.service.ratelimit.v3.RateLimitService']);
  const { listener, url } = await grpcScene(options, {}, [...health.methods, ...reflection.methods]);
  const client = await GrpcClient.open(url);
  close = async () => {
    await client.close();
    await listener.close();
  };
  return { state, health, client };
}

const statusIn = (message: Buffer) => HealthCheckResponse.ServingStatus[HealthCheckResponse.decode(message).status];
const ofService = (service: string) => HealthCheckRequest.encode({ service }).finish();

describe('health', () => {
  test('a probe needs no token, and hears of the node and of each service', async () => {
    const { client, state } = await asking({ auth: AUTH });
    const check = async (service: string) => {
      const { status, messages } = await client.ask('/grpc.health.v1.Health/Check', ofService(service));
      return messages[0] === undefined ? status : statusIn(messages[0]);
    };
    expect([await check(''), await check('test.Echo'), await check('test.Other')]).toEqual([
      'SERVING',
      'SERVING',
      GRPC_STATUS.NOT_FOUND,
    ]);
    state.isServing = false;
    expect(await check('')).toBe('NOT_SERVING');
  });

  test('the end waits until who asks has heard of it, and for nobody who does not ask', async () => {
    const { client, health } = await asking();
    const check = async () => statusIn((await client.ask('/grpc.health.v1.Health/Check', ofService(''))).messages[0]!);
    await check();
    let isOver = false;
    const ending = health.end().then(() => {
      isOver = true;
    });
    await sleep(50);
    expect(isOver).toBe(false);
    expect(await check()).toBe('NOT_SERVING');
    await ending;
    await close();
    const quiet = await asking();
    const begunMs = performance.now();
    await quiet.health.end();
    expect(performance.now() - begunMs).toBeLessThan(1000);
  });

  test('the end waits for who asked last, however many have asked before', async () => {
    const health = new HealthService([], () => true);
    const [check] = health.methods;
    const ask = (peer: string) => check?.kind === 'unary' && check.answer(ofService(''), { peer } as UnaryFacts);
    for (let at = 0; at < 3 * PEERS_MAX; at++) ask(`stranger:${at}`);
    ask('envoy:1');
    let isOver = false;
    const ending = health.end().then(() => {
      isOver = true;
    });
    for (let at = 0; at < 3 * PEERS_MAX; at++) ask(`stranger:${at}`);
    await sleep(50);
    expect(isOver).toBe(false);
    ask('envoy:1');
    await ending;
  });

  test('a watcher hears of every change, and of the end before it comes', async () => {
    const { client, state, health } = await asking();
    const [watch, unknown] = [0, 1].map(() => client.call('/grpc.health.v1.Health/Watch'));
    watch?.send(ofService(''));
    expect(statusIn(await watch!.message(0))).toBe('SERVING');
    unknown?.send(ofService('test.Other'));
    expect(statusIn(await unknown!.message(0))).toBe('SERVICE_UNKNOWN');
    state.isServing = false;
    expect(statusIn(await watch!.message(1))).toBe('NOT_SERVING');
    state.isServing = true;
    expect(statusIn(await watch!.message(2))).toBe('SERVING');
    health.end();
    expect(statusIn(await watch!.message(3))).toBe('NOT_SERVING');
    expect(unknown?.messages).toHaveLength(1);
  });
});

describe.each(['v1', 'v1alpha'])('reflection %s', (version) => {
  const path = `/grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`;

  async function reflected(...requests: object[]) {
    const { client } = await asking();
    const call = client.call(path);
    for (const request of requests) call.send(ServerReflectionRequest.encode(request).finish());
    call.stream.end();
    const { status, messages } = await call.ended;
    expect(status).toBe(0);
    return messages.map((message) => ServerReflectionResponse.decode(message));
  }

  test('lists services, and gives the files of a symbol with all that they need', async () => {
    const [list, symbol, method, file, unknown] = await reflected(
      { listServices: '' },
      { fileContainingSymbol: 'envoy.service.ratelimit.v3.RateLimitRequest' },
      { fileContainingSymbol: 'envoy.service.ratelimit.v3.RateLimitService.ShouldRateLimit' },
      { fileByFilename: 'google_protobuf.proto' },
      { fileContainingSymbol: 'envoy.Unknown' },
    );
    expect(list?.listServicesResponse?.service?.map(({ name }) => name)).toEqual([
      'envoy.service.ratelimit.v3.RateLimitService',
      'grpc.reflection.v1.ServerReflection',
      'grpc.reflection.v1alpha.ServerReflection',
    ]);
    const files = symbol?.fileDescriptorResponse?.fileDescriptorProto ?? [];
    const set = { file: files.map((bytes) => FileDescriptorProto.decode(bytes)) };
    const root = Root.fromDescriptor(FileDescriptorSet.encode(set).finish()).resolveAll();
    const { fields } = root.lookupType('envoy.service.ratelimit.v3.RateLimitRequest');
    expect(fields.descriptors.resolvedType.fullName).toBe('.envoy.extensions.common.ratelimit.v3.RateLimitDescriptor');
    expect(fields.hitsAddend.id).toBe(3);
    // Maps are described as protoc does it: their entries are read by it.
    const { RateLimitResponse } = envoy.service.ratelimit.v3;
    const fieldsOf = { rule: { stringValue: 'edge' } };
    const bytes = RateLimitResponse.encode({ dynamicMetadata: { fields: fieldsOf } }).finish();
    const { dynamicMetadata } = root.lookupType('envoy.service.ratelimit.v3.RateLimitResponse').decode(bytes);
    expect(dynamicMetadata.fields.rule.stringValue).toBe('edge');
    const struct = set.file.flatMap(({ messageType }) => messageType).find(({ name }) => name === 'Struct');
    expect(struct.nestedType).toMatchObject([{ name: 'FieldsEntry', options: { mapEntry: true } }]);
    // Who knows the files by name finds those that each one needs.
    const names = set.file.map(({ name }: { name: string }) => name);
    expect(
      set.file.every(({ dependency }: { dependency: string[] }) => dependency.every((name) => names.includes(name))),
    ).toBe(true);
    expect(method?.fileDescriptorResponse).toEqual(symbol?.fileDescriptorResponse);
    expect(file?.fileDescriptorResponse?.fileDescriptorProto).toHaveLength(1);
    expect(unknown?.errorResponse?.errorCode).toBe(GRPC_STATUS.NOT_FOUND);
  });
});

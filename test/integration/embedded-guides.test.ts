import { execFile, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, type TestContext, test } from 'vitest';
import { COMMAND_FILE } from '../../src/base/package/package-root.js';
import { freePorts } from '../../src/tools/processes/free-ports.js';
import { isDrawn } from '../property/seed.js';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const TSC = join(ROOT, 'node_modules/typescript/bin/tsc');
let guides = 0;
/** Runs what a page shows, if it is drawn, beside the others: every program waits a second for its first tokens. */
function guide(name: string, follow: (context: TestContext) => Promise<void>): void {
  test.runIf(isDrawn(guides++))(name, { concurrent: true }, follow);
}

/** Groups stand for keys, because a key of which nobody need hear has no counts to look at. */
const CONFIG = `cluster: guides
topic: memory
groups:
  orders: { quota: { publish: { messagesPerSecond: 1000 } } }
  api: { quota: { publish: { messagesPerSecond: 1000 } } }
  "key:alice": { quota: { publish: { messagesPerSecond: 1000 } } }
  "llm:alice": { quota: { publish: { messagesPerSecond: 1000, bytesPerSecond: 1000000 } } }
`;
const NODE = `import { createNode } from 'quotamesh';
const node = await createNode({ config: 'node.yaml', nodeId: 'a' });
for (const group of ['orders', 'key:alice', 'llm:alice']) {
  await node.acquire(group, { messages: 50, bytes: 50_000 }, { waitMs: 10_000 });
}
const taken = (group) => node.groupStatus(group).directions.publish.local;
`;
const SERVED = `const server = await new Promise((resolve) => {
  const made = app.listen(0, '127.0.0.1', () => resolve(made));
});
const ask = (path, headers = {}) => fetch(\`http://127.0.0.1:\${server.address().port}\${path}\`, { headers });
const end = async () => { server.close(); server.closeAllConnections(); await node.close(); };
`;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'quotamesh-guides-'));
  writeFileSync(join(folder, 'node.yaml'), CONFIG);
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  // What a user would have installed.
  mkdirSync(join(folder, 'node_modules/@nestjs'), { recursive: true });
  mkdirSync(join(folder, 'node_modules/@fastify'), { recursive: true });
  symlinkSync(ROOT, join(folder, 'node_modules/quotamesh'));
  const installed =
    'express express-rate-limit fastify @fastify/rate-limit rate-limiter-flexible reflect-metadata rxjs @types ' +
    '@nestjs/common @nestjs/core @nestjs/platform-express @nestjs/throttler';
  for (const name of installed.split(' ')) {
    symlinkSync(join(ROOT, 'node_modules', name), join(folder, 'node_modules', name));
  }
});
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));

/** The blocks of one language, in order, as they stand on the page. */
function blocksOf(guide: string, language: string): string[] {
  const page = readFileSync(join(ROOT, 'docs/guide', guide), 'utf8');
  return [...page.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'gm'))].map(([, code = '']) => code);
}

let programs = 0;
async function outputOf(program: string): Promise<string> {
  const file = join(folder, `program-${programs++}.mjs`);
  writeFileSync(file, program);
  const { stdout, stderr } = await run(process.execPath, [file], { cwd: folder, timeout: 50_000 });
  expect(stderr).toBe('');
  return stdout;
}

guide('node-services.md: Express in three lines, and all options', async () => {
  const [three = '', options = '', ...others] = blocksOf('node-services.md', 'js');
  expect(others).toEqual([]);
  const out = await outputOf(`${three}await node.acquire('orders', { messages: 50 }, { waitMs: 10_000 });
${options}app.use((_request, response) => response.send('hello'));
${SERVED}
const before = node.groupStatus('orders').directions.publish.local.admittedMessages;
const health = await ask('/health');
console.log(health.status, health.headers.get('ratelimit-policy'), health.headers.get('x-ratelimit-limit'));
const paid = await ask('/', { 'x-api-key': 'alice', 'x-cost': '3' });
console.log(paid.status, paid.headers.get('ratelimit-policy'), paid.headers.get('x-ratelimit-limit'));
console.log(node.groupStatus('orders').directions.publish.local.admittedMessages - before);
await end();
`);
  expect(out.split('\n')).toEqual([
    '200 "orders-publish-messages";q=1000;w=1 null',
    '200 "key:alice-publish-messages";q=1000;w=1 1000',
    '2',
    '',
  ]);
});

guide('node-services.md: the decorators of Nest, as a compiler of TypeScript makes them', async () => {
  const [report = '', ...others] = blocksOf('node-services.md', 'ts');
  expect(others).toEqual([]);
  const source = join(folder, 'reports.ts');
  writeFileSync(
    source,
    `import 'reflect-metadata';
import { Controller, Get, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { createNode } from 'quotamesh';
import { Quota, QuotaGuard } from 'quotamesh/nest';
const node = await createNode({ config: 'node.yaml', nodeId: 'a' });
await node.acquire('orders', { messages: 50 }, { waitMs: 10_000 });
@Controller()
class Reports {
${report}}
@Module({ controllers: [Reports] })
class App {}
const app = await NestFactory.create(App, { logger: false });
app.useGlobalGuards(new QuotaGuard(node, { group: 'orders' }));
await app.listen(0, '127.0.0.1');
const before = node.groupStatus('orders').directions.publish.local.admittedMessages;
const { status } = await fetch(\`\${await app.getUrl()}/report\`);
console.log(status, node.groupStatus('orders').directions.publish.local.admittedMessages - before);
await app.close();
await node.close();
`,
  );
  const options = '--target es2022 --module nodenext --skipLibCheck --types node --experimentalDecorators';
  const made = [...options.split(' '), '--emitDecoratorMetadata'];
  await run(process.execPath, [TSC, ...made, source], { cwd: folder }).catch(({ stdout }) => expect(stdout).toBe(''));
  const { stdout } = await run(process.execPath, ['reports.js'], { cwd: folder, timeout: 50_000 });
  expect(stdout).toBe('200 5\n');
});

guide('instead-of-redis.md: the service with a node in the process', async () => {
  const [before = '', service = '', ...others] = blocksOf('instead-of-redis.md', 'js');
  expect(others).toEqual([]);
  const common = (program: string) => program.slice(program.indexOf('const app ='), program.indexOf('app.listen'));
  expect(common(service).replace(/const server = $/, '')).toBe(common(before));
  const onOneMachine = service.replace(/kind: 'redis', addresses: \['[^']+'\]/, "kind: 'memory'").replace('8080', '0');
  expect(
    await outputOf(`${onOneMachine}
await new Promise((resolve) => server.once('listening', resolve));
// A key begins with what has come in since the node began.
await new Promise((resolve) => setTimeout(resolve, 1000));
const ask = () => fetch(\`http://127.0.0.1:\${server.address().port}/\`, { headers: { 'x-api-key': 'alice' } });
const { status, headers } = await ask();
console.log(status, headers.get('x-ratelimit-limit'));
server.closeAllConnections();
process.emit('SIGTERM');
`),
  ).toBe('200 600\n');
});

const [express = '', fastify = '', flexible = '', throttler = '', ...furtherStores] = blocksOf('stores.md', 'js');

guide('stores.md: a store for express-rate-limit', async () => {
  expect(furtherStores).toEqual([]);
  expect(
    await outputOf(`import express from 'express';
${NODE}const app = express();
app.set('trust proxy', 1);
${express.replace(/store \}\)/, "store, keyGenerator: () => 'alice' })")}
app.use((_request, response) => response.send('hello'));
${SERVED}
const { status, headers } = await ask('/');
console.log(status, headers.get('x-ratelimit-limit'), headers.get('x-ratelimit-remaining') < 600);
await end();
`),
  ).toBe('200 600 true\n');
});

guide('stores.md: a store for @fastify/rate-limit', async () => {
  expect(
    await outputOf(`import { fastify } from 'fastify';
import rateLimit from '@fastify/rate-limit';
import { quotameshStore } from 'quotamesh/stores/fastify-rate-limit';
${NODE}const app = fastify();
${fastify}
app.get('/', async () => 'hello');
const { statusCode, headers } = await app.inject('/');
console.log(statusCode, headers['x-ratelimit-limit']);
await app.close();
await node.close();
`),
  ).toBe('200 600\n');
});

guide('stores.md: a store for rate-limiter-flexible', async () => {
  expect(
    await outputOf(`import { RateLimiterQuotamesh } from 'quotamesh/stores/rate-limiter-flexible';
${NODE}const before = taken('key:alice').admittedMessages;
${flexible}
console.log(taken('key:alice').admittedMessages - before);
await node.close();
`),
  ).toBe('2\n');
});

guide('stores.md: a store for @nestjs/throttler', async () => {
  expect(
    await outputOf(`import 'reflect-metadata';
import { Controller, Get, Module } from '@nestjs/common';
import { APP_GUARD, NestFactory } from '@nestjs/core';
import { ThrottlerGuard, ThrottlerModule } from '@nestjs/throttler';
import { QuotameshStorage } from 'quotamesh/stores/nestjs-throttler';
${NODE}const throttler = ${throttler.replace('storage:', "getTracker: () => 'alice',\n  storage:")}
class Hello { hello() { return 'hello'; } }
Get('/')(Hello.prototype, 'hello', Object.getOwnPropertyDescriptor(Hello.prototype, 'hello'));
Controller()(Hello);
class App {}
const providers = [{ provide: APP_GUARD, useClass: ThrottlerGuard }];
Module({ imports: [throttler], controllers: [Hello], providers })(App);
const app = await NestFactory.create(App, { logger: false });
await app.listen(0, '127.0.0.1');
const before = taken('key:alice').admittedMessages;
const { status, headers } = await fetch(await app.getUrl());
console.log(status, headers.get('x-ratelimit-limit'), taken('key:alice').admittedMessages - before);
await app.close();
await node.close();
`),
  ).toBe('200 600 1\n');
});

guide('llm-tokens.md: what an answer cost is charged', async () => {
  const [block = '', ...others] = blocksOf('llm-tokens.md', 'js');
  expect(others).toEqual([]);
  const out = await outputOf(`${NODE}const [key, promptTokens, maxTokens] = ['alice', 100, 2000];
const ask = async () => ({ usage: { total_tokens: 321 } });
const before = taken('llm:alice').admittedBytes;
${block}
console.log(held.granted, taken('llm:alice').admittedBytes - before);
await node.close();
`);
  expect(out).toBe('true 321\n');
});

guide('outbound.md: the call comes after its turn', async () => {
  const [block = '', ...others] = blocksOf('outbound.md', 'js');
  expect(others).toEqual([]);
  const out = await outputOf(`${NODE}globalThis.fetch = async (url) => ({ url, taken: taken('api').admittedMessages });
${block}
console.log(answer.url, answer.taken);
await node.close();
`);
  expect(out).toBe('https://api.example.com/ 1\n');
});

guide('your-own-broker.md: a connection is not read while its packet is not paid', async () => {
  const [block = '', ...others] = blocksOf('your-own-broker.md', 'js');
  expect(others).toEqual([]);
  const out = await outputOf(`import * as limiter from 'quotamesh/limiter';
const { Buckets, BYTES, MESSAGES, Producer, PublishThrottle, ThrottleTracker } = limiter;
const buckets = new Buckets(1);
buckets.setLimit(0, MESSAGES, 100, 1, performance.now());
buckets.setLimit(0, BYTES, Infinity, Infinity, performance.now());
const socket = { pause: () => console.log('paused'), resume: () => console.log('resumed') };
const line = 'hello';
${block.replace('throttle.publish(', 'for (let packet = 0; packet < 3; packet++) throttle.publish(')}`);
  expect(out).toBe('paused\nresumed\n');
});

guide('embedding.md: groups at run time', async () => {
  const [groups = ''] = blocksOf('embedding.md', 'js').filter((block) => block.includes('node.groups.set('));
  const out = await outputOf(`${NODE}${groups}
console.log(node.groups.list().map(({ group }) => group).join());
await node.close();
`);
  // What was there before the call of `watch` is not told; whether a group or its attachment goes first is not promised.
  expect(out.split('\n')).toEqual([
    "group acme { quota: { publish: { messagesPerSecond: '60/min' } } }",
    expect.stringMatching(/^(attachment|group) acme null$/),
    expect.stringMatching(/^(attachment|group) acme null$/),
    'api,key:alice,llm:alice,orders',
    '',
  ]);
});

guide('embedding.md: keys at run time', async () => {
  const [keys = ''] = blocksOf('embedding.md', 'js').filter((block) => block.includes('node.keys.set('));
  const out = await outputOf(`${NODE}${keys}
console.log(node.keys.list().length, node.keys.templates.get('key:{id}').definition.quota.publish.messagesPerSecond);
await node.close();
`);
  expect(out).toContain("[ 'key:acme' ]");
  expect(out).toMatch(/^1 600\/min$/m);
});

guide('keys.md and embedding.md: what is asked with curl', async ({ onTestFinished }) => {
  const [yaml = ''] = blocksOf('keys.md', 'yaml');
  writeFileSync(
    join(folder, 'keys.yaml'),
    `${yaml}groups: { orders: { quota: { publish: { messagesPerSecond: 1000 } } } }\n`,
  );
  const [port] = await freePorts(1);
  const node = spawn(process.execPath, [COMMAND_FILE, 'run', '--config', 'keys.yaml'], {
    cwd: folder,
    env: { ...process.env, QUOTAMESH_HTTP_PORT: `${port}` },
    stdio: 'ignore',
  });
  const ended = new Promise((resolve) => node.once('exit', resolve));
  onTestFinished(async () => {
    node.kill();
    await ended;
  });
  const isReady = async () => (await fetch(`http://127.0.0.1:${port}/readyz`)).status;
  await expect.poll(isReady, { timeout: 50_000 }).toBe(200);
  const sh = [...blocksOf('keys.md', 'sh'), ...blocksOf('embedding.md', 'sh')].join('').replaceAll('7070', `${port}`);
  const commands = sh.replaceAll(/^curl (.*)$/gm, "curl -w '\\n' $1");
  // "Ten seconds later", until the bucket has what the guide takes: here a second.
  await new Promise((resolve) => setTimeout(resolve, 1500));
  const { stdout } = await run('bash', ['-c', commands]);
  const answers = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(answers).toMatchObject([
    { granted: true },
    { key: 'key:alice' },
    { granted: true, messages: 5 },
    { granted: true },
    { answers: [{ status: 200 }, { status: 200 }] },
  ]);
});

import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, expect, onTestFinished, test } from 'vitest';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const QUIET = ['--no-audit', '--no-fund', '--ignore-scripts', '--prefer-offline', '--loglevel=error'];

/** Alice's bucket has something at once, bob's has nothing for a day. */
const NODE = `import 'reflect-metadata';
import { createNode } from 'quotamesh';
const node = await createNode({
  nodeId: 'a',
  env: {},
  config: {
    cluster: 'older',
    topic: 'memory',
    groups: {
      'key:alice': { quota: { publish: { messagesPerSecond: 1000 } } },
      'key:bob': { quota: { publish: { messagesPerSecond: '1/d' } }, burst: { start: 'empty' } },
    },
  },
});
await node.acquire('key:alice', { messages: 100 }, { waitMs: 10_000 });
const keyOf = (request) => request.headers['x-api-key'];
async function told(url) {
  for (const key of ['alice', 'bob']) {
    const { status, headers } = await fetch(url, { headers: { 'x-api-key': key } });
    const limit = headers.get('ratelimit-policy') ?? headers.get('x-ratelimit-limit');
    const after = headers.get('retry-after');
    console.log(status, limit, after > 86_000 && after <= 86_400 ? 'a day' : after);
  }
}
`;

const NEST = `${NODE}import { Controller, Get, Module } from '@nestjs/common';
import { APP_GUARD, NestFactory } from '@nestjs/core';
function makeApp(imports, providers) {
  class Hello { hello() { return 'hello'; } }
  Get('/')(Hello.prototype, 'hello', Object.getOwnPropertyDescriptor(Hello.prototype, 'hello'));
  Controller()(Hello);
  class App {}
  Module({ imports, providers, controllers: [Hello] })(App);
  return App;
}
`;

const GUARD = `${NEST}import { FastifyAdapter } from '@nestjs/platform-fastify';
import { QuotaGuard } from 'quotamesh/nest';
for (const adapter of [[], [new FastifyAdapter()]]) {
  const app = await NestFactory.create(makeApp([], []), ...adapter, { logger: false });
  const group = (context) => \`key:\${keyOf(context.switchToHttp().getRequest())}\`;
  app.useGlobalGuards(new QuotaGuard(node, { group }));
  await app.listen(0, '127.0.0.1');
  await told(await app.getUrl());
  await app.close();
}
await node.close();
`;
const GUARDED = [
  '200 "key:alice-publish-messages";q=1000;w=1 null',
  '429 "key:bob-publish-messages";q=1;w=86400 a day',
];

const THROTTLER = `${NEST}import { ThrottlerGuard, ThrottlerModule } from '@nestjs/throttler';
import { QuotameshStorage } from 'quotamesh/stores/nestjs-throttler';
class ByKey extends ThrottlerGuard {
  async getTracker(request) { return keyOf(request); }
  generateKey(_context, tracker) { return tracker; }
}
const throttlers = [{ limit: 1000, ttl: 1000 }];
const storage = new QuotameshStorage(node, { group: (key) => \`key:\${key}\` });
const imports = [ThrottlerModule.forRoot({ throttlers, storage })];
const app = await NestFactory.create(makeApp(imports, [{ provide: APP_GUARD, useClass: ByKey }]), { logger: false });
await app.listen(0, '127.0.0.1');
await told(await app.getUrl());
await app.close();
await node.close();
`;

const FASTIFY = `${NODE}import { fastify } from 'fastify';
import rateLimit from '@fastify/rate-limit';
import { quotameshStore } from 'quotamesh/stores/fastify-rate-limit';
const app = fastify();
const store = quotameshStore(node, { group: (key) => \`key:\${key}\` });
await app.register(rateLimit, { max: 1000, timeWindow: 1000, store, keyGenerator: keyOf });
app.get('/', async () => 'hello');
await told(await app.listen({ host: '127.0.0.1', port: 0 }));
await app.close();
await node.close();
`;

let tarball: string;
beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'quotamesh-older-'));
  await run('npm', ['pack', '--ignore-scripts', '--loglevel=error', '--pack-destination', folder], { cwd: ROOT });
  tarball = join(folder, (await readdir(folder))[0]);
  return () => rm(folder, { recursive: true, force: true });
}, 120_000);

const nest = (version: number) => ['common', 'core', 'platform-express'].map((name) => `@nestjs/${name}@${version}`);

/** What does not go by an alias in package.json: these packages name each other. */
test.each([
  ['nest 11', GUARD, [...nest(11), '@nestjs/platform-fastify@11'], [...GUARDED, ...GUARDED]],
  ['nest 10', GUARD, [...nest(10), '@nestjs/platform-fastify@10'], [...GUARDED, ...GUARDED]],
  [
    '@nestjs/throttler 6 on nest 11',
    THROTTLER,
    [...nest(11), '@nestjs/throttler@6'],
    ['200 1000 null', '429 null a day'],
  ],
  ['@fastify/rate-limit 10', FASTIFY, ['fastify@5', '@fastify/rate-limit@10'], ['200 1000 null', '429 1000 a day']],
])('%s', async (_name, program, packages, told) => {
  const folder = await mkdtemp(join(tmpdir(), 'quotamesh-older-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
  // Without the package itself: what its users have to install beside it is named here.
  await run('npm', ['install', ...QUIET, ...packages, 'reflect-metadata@0.2', 'rxjs@7'], { cwd: folder });
  const installed = join(folder, 'node_modules/quotamesh');
  await mkdir(installed);
  await run('tar', ['-xzf', tarball, '-C', installed, '--strip-components=1']);
  const { dependencies } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
  for (const name of Object.keys(dependencies)) {
    await symlink(join(ROOT, 'node_modules', name), join(folder, 'node_modules', name));
  }
  await writeFile(join(folder, 'program.mjs'), program);
  const { stdout } = await run(process.execPath, ['program.mjs'], { cwd: folder, timeout: 120_000 });
  expect(stdout.trim().split('\n')).toEqual(told);
});

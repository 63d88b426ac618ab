import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { someOf } from '../../property/seed.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const TSC = join(ROOT, 'node_modules/typescript/bin/tsc');
/** What a user writes; the second line holds only where types were found. */
const PROGRAM = `import { createNode, QuotameshError, type Decision } from 'quotamesh';
// @ts-expect-error -- a string is no number of milliseconds
void createNode({ config: 'node.yaml', readyTimeoutMs: 'soon' });
export async function ask(): Promise<Decision> {
  const node = await createNode({ config: 'node.yaml' });
  return node.tryAcquire('orders', { messages: 1 });
}
export const isOurs = (error: unknown): boolean => error instanceof QuotameshError;
`;

/** Every subpath; of frameworks the types are theirs, and are not judged here. */
const SUBPATHS = `import type { QuotaNode } from 'quotamesh';
import { quota as ofExpress } from 'quotamesh/express';
import { quota as ofFastify } from 'quotamesh/fastify';
import { quota as ofHono } from 'quotamesh/hono';
import { quota as ofKoa } from 'quotamesh/koa';
import { Buckets, MESSAGES, PublishThrottle, ThrottleTracker, WakeQueue } from 'quotamesh/limiter';
import { Quota, QuotaGuard } from 'quotamesh/nest';
import { attachOpenTelemetry } from 'quotamesh/opentelemetry';
import { QuotameshStore } from 'quotamesh/stores/express-rate-limit';
import { quotameshStore } from 'quotamesh/stores/fastify-rate-limit';
import { QuotameshStorage } from 'quotamesh/stores/nestjs-throttler';
import { RateLimiterQuotamesh } from 'quotamesh/stores/rate-limiter-flexible';
export const of = (node: QuotaNode) => [
  ofExpress(node, { group: (request) => request.path }),
  ofFastify(node, { group: ({ url }) => url, headers: 'both' }),
  ofHono(node, { group: (context) => context.req.path, refusal: 'framework' }),
  ofKoa(node, { group: (context) => context.path, waitMs: 5 }),
  // @ts-expect-error -- a number names no group
  ofKoa(node, { group: 5 }),
  new QuotaGuard(node, { group: 'orders' }),
  attachOpenTelemetry(node).spans,
  Quota({ messages: (context) => context.getArgs().length }),
  new QuotameshStore(node),
  quotameshStore(node, { group: 'orders' }),
  new QuotameshStorage(node),
  new RateLimiterQuotamesh(node, { points: 1 }),
];
export const parts = [new Buckets(1), MESSAGES, PublishThrottle, new ThrottleTracker(() => undefined), new WakeQueue()];
`;
/** What package.json exports beside the library itself. */
const SUBPATH_NAMES = [...SUBPATHS.matchAll(/'quotamesh\/([^']+)'/g)].map(([, name]) => name as string);

describe('types of the package', () => {
  test.each(
    someOf([
      ['node16, import and require', ['subpaths.mts', 'subpaths.cts'], 'node16', 'node16'],
      ['bundler', ['subpaths.ts'], 'esnext', 'bundler'],
    ] as const),
  )('subpaths: %s', (_, files, module, resolution) => {
    const folder = consumer();
    for (const file of files) writeFileSync(join(folder, file), SUBPATHS);
    const flags = ['--noEmit', '--strict', '--skipLibCheck', '--target', 'es2023', '--types', 'node'];
    const roots = [
      '--typeRoots',
      join(ROOT, 'node_modules/@types'),
      '--module',
      module,
      '--moduleResolution',
      resolution,
    ];
    let output = '';
    try {
      execFileSync(process.execPath, [TSC, ...flags, ...roots, ...files], { cwd: folder, encoding: 'utf8' });
    } catch (error) {
      output = (error as { stdout: string }).stdout;
    }
    expect(output).toBe('');
  });

  test.each(
    someOf([
      [
        'node16, import and require',
        ['program.mts', 'program.cts'],
        ['--module', 'node16', '--moduleResolution', 'node16'],
      ],
      ['nodenext', ['program.mts'], ['--module', 'nodenext', '--moduleResolution', 'nodenext']],
      ['bundler', ['program.ts'], ['--module', 'esnext', '--moduleResolution', 'bundler']],
    ] as const),
  )('%s', (_, files, options) => {
    const folder = consumer();
    for (const file of files) writeFileSync(join(folder, file), PROGRAM);
    const flags = [
      '--noEmit',
      '--strict',
      '--target',
      'es2023',
      '--types',
      'node',
      '--typeRoots',
      join(ROOT, 'node_modules/@types'),
    ];
    let output = '';
    try {
      execFileSync(process.execPath, [TSC, ...flags, ...options, ...files], { cwd: folder, encoding: 'utf8' });
    } catch (error) {
      output = (error as { stdout: string }).stdout;
    }
    expect(output).toBe('');
  });
});

test('types name no zod, and the comment of a member stands where editors look', () => {
  const types = readFileSync(join(ROOT, 'dist/index.d.ts'), 'utf8');
  expect(types).not.toMatch(/['"]zod/);
  expect(types).toMatch(/^ +\/\*\* Milliseconds since its last record was read here\. \*\/\n +silentMs: /m);
});

test('import and require give one copy', async () => {
  const folder = consumer();
  const required = createRequire(join(folder, 'program.cjs'))('quotamesh');
  const { QuotameshError } = await import('quotamesh');
  expect(required.QuotameshError).toBe(QuotameshError);
});

test.each(SUBPATH_NAMES)('quotamesh/%s: import and require give one copy', async (name) => {
  const required = createRequire(join(consumer(), 'program.cjs'))(`quotamesh/${name}`);
  const specifier = `quotamesh/${name}`;
  const imported = await import(specifier);
  for (const [key, value] of Object.entries(imported)) expect(required[key]).toBe(value);
  expect(Object.keys(imported)).not.toEqual([]);
});

test('no subpath is without a test', () => {
  const { exports } = createRequire(import.meta.url)('../../../package.json');
  const doors = Object.keys(exports).filter((door) => !/^\.$|schema|package\.json/.test(door));
  expect(doors.map((door) => door.slice(2)).sort()).toEqual([...SUBPATH_NAMES].sort());
});

/** A folder whose node_modules has this package. */
function consumer(): string {
  const folder = mkdtempSync(join(tmpdir(), 'quotamesh-consumer-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(ROOT, join(folder, 'node_modules/quotamesh'));
  return folder;
}

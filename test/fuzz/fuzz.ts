import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { expect } from 'vitest';
import { resolveConfig } from '../../src/config/read/resolve-config.js';
import type { ResolvedConfig } from '../../src/config/resolved/resolved-config.js';
import { ConfigError } from '../../src/config/setting/config-error.js';
import { parseYaml } from '../../src/config/yaml/parse-yaml.js';
import { answerTo, FuzzScene, heapBytes, show } from './fuzz-scene.js';
import { damaging, yamlText } from './grammar.js';
import { registryRecords } from './records.js';
import { type Description, requestsFor } from './requests.js';

/** How many of each kind. */
export interface FuzzCounts {
  /** HTTP requests to every described route, without a socket. */
  readonly requests: number;
  /** HTTP requests as bytes, over a socket. */
  readonly rawRequests: number;
  /** YAML documents; those without a mistake become the node's configuration, as with a hot reload. */
  readonly documents: number;
  /** Records of the registry's topic. */
  readonly records: number;
}

/** Requests under way at once. */
const TOGETHER = 16;
/** After so many the memory is looked at, and four times at least. */
const ROUNDS_OF = 5000;
const ROUNDS_MIN = 4;
/** Bytes: compiled code and full tables grow by up to 2 MiB in 10,000, and by 10 MiB in a million. */
const HEAP_GROWTH_MAX = { once: 8 * 1024 ** 2, each: 24 };
const CODES = /^[A-Z_]+$/;
const OPTIONS = {
  source: 'fuzz.yaml',
  hostName: 'host',
  env: {},
  readFile: () => {
    throw new Error('there is no such file');
  },
};

/**
 * Throws what looks like requests, configurations and records at a node. Every answer is one of the catalogue and none a
 * defect (5xx but 503), nothing is thrown, the share of a group that nobody names stays, memory is given back.
 */
export async function fuzz(counts: FuzzCounts, seed: number): Promise<void> {
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const rounds = Math.max(ROUNDS_MIN, Math.ceil(total / ROUNDS_OF));
  const heaps: number[] = [];
  // One scene for all rounds: the fuzz looks for what a node keeps from one request to the next.
  const scene = await FuzzScene.begin();
  try {
    for (let round = 0; round < rounds; round++) {
      const share = (count: number) => Math.ceil(count / rounds);
      await playRequests(scene, share(counts.requests), seed + round);
      await playRawRequests(scene, share(counts.rawRequests), seed + round);
      await playDocuments(scene, share(counts.documents), seed + round);
      await playRecords(scene, share(counts.records), seed + round);
      heaps.push(await heapBytes());
    }
  } finally {
    await scene.end();
  }
  // The first rounds compile, and fill what is kept once.
  const grown = (heaps.at(-1) ?? 0) - (heaps[Math.floor(rounds / 4)] ?? 0);
  expect(grown, `heap after each round: ${heaps.join(', ')}`).toBeLessThan(
    HEAP_GROWTH_MAX.once + total * HEAP_GROWTH_MAX.each,
  );
  console.log(`fuzz: ${total} in ${rounds} rounds; the heap grew by ${(grown / 1024 ** 2).toFixed(1)} MiB`);
}

async function playRequests(scene: FuzzScene, count: number, seed: number): Promise<void> {
  const description = (await scene.app.inject({ url: '/openapi.json' })).json() as Description;
  const requests = requestsFor(description);
  await inBatches(requests, count, seed, async (batch) => {
    const answers = await Promise.all(batch.map((request) => scene.app.inject(request)));
    for (const [at, { statusCode, headers, body }] of answers.entries()) {
      const asked = show(batch[at]);
      expect(statusCode < 500 || statusCode === 503, `${asked}\n${statusCode} ${body}`).toBe(true);
      const isProblem = String(headers['content-type']).startsWith('application/problem+json');
      if (isProblem && body !== '') expect(JSON.parse(body).code, asked).toMatch(CODES);
    }
    scene.expectUnharmed(batch);
  });
}

async function playRawRequests(scene: FuzzScene, count: number, seed: number): Promise<void> {
  const port = await scene.port();
  const text = fc
    .record({
      method: fc.constantFrom('GET', 'POST', 'PUT', 'BREW', 'get', ''),
      path: fc.constantFrom('/v1/groups', '/v1/acquire', '/livez', '*', 'x', '/%', '/ '),
      version: fc.constantFrom('HTTP/1.1', 'HTTP/1.0', 'HTTP/9.9', ''),
      length: fc.constantFrom('2', '0', '-1', '99999999999', 'x', '2, 3'),
      coding: fc.constantFrom('', 'transfer-encoding: chunked\r\n', 'expect: 100-continue\r\n', 'upgrade: x\r\n'),
      damages: fc.array(damaging(), { maxLength: 3 }),
    })
    .map(({ method, path, version, length, coding, damages }) => {
      const headers = `host: a\r\ncontent-type: application/json\r\n${coding}content-length: ${length}\r\n`;
      return damages.reduce((whole, damage) => damage(whole), `${method} ${path} ${version}\r\n${headers}\r\n{}`);
    });
  await inBatches(text, count, seed, async (batch) => {
    const answers = await Promise.all(batch.map((bytes) => answerTo(port, bytes)));
    for (const [at, answer] of answers.entries()) {
      const code = Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? 400);
      expect(code < 500 || code === 503 || code === 505, `${show(batch[at])}\n${answer}`).toBe(true);
    }
    scene.expectUnharmed(batch);
  });
}

async function playDocuments(scene: FuzzScene, count: number, seed: number): Promise<void> {
  const { config } = scene.node;
  await inBatches(yamlText, count, seed, async (batch) => {
    for (const text of batch) {
      const read = configOf(text);
      // Groups after a reload: they are new, the canary's YAML is the same.
      if (read !== null) scene.node.yaml.take({ ...read, groups: [...read.groups, ...config.groups.slice(0, 1)] });
    }
    scene.expectUnharmed(batch);
    await turn();
  });
  scene.node.yaml.take(config);
}

/** Null where it has mistakes, each with a line and a remedy. */
function configOf(text: string): ResolvedConfig | null {
  const { raw, readable, mistakes, locate } = parseYaml(text);
  if (!readable) {
    expect(mistakes.length, text).toBeGreaterThan(0);
    return null;
  }
  try {
    return resolveConfig(raw, { ...OPTIONS, locate });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw new Error(`not a ConfigError for ${show(text)}`, { cause: error });
    expect(error.mistakes.filter(({ problem, remedy }) => !problem || !remedy)).toEqual([]);
    return null;
  }
}

async function playRecords(scene: FuzzScene, count: number, seed: number): Promise<void> {
  const { registry, config } = scene.node;
  await inBatches(registryRecords(config.cluster), count, seed, async (batch) => {
    await registry?.topic.append(batch);
    // Read and applied on a turn of its own.
    await turn();
    await turn();
    scene.expectUnharmed(batch.map(({ key, value }) => `${key} ${Buffer.from(value ?? []).toString()}`));
  });
}

async function inBatches<T>(
  arbitrary: fc.Arbitrary<T>,
  count: number,
  seed: number,
  play: (batch: readonly T[]) => Promise<void>,
): Promise<void> {
  const cases = fc.sample(arbitrary, { numRuns: count, seed });
  for (let at = 0; at < cases.length; at += TOGETHER) await play(cases.slice(at, at + TOGETHER));
}

import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { someOf } from '../../property/seed.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const { version: VERSION } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));

/** A service that its team ships as one file, with a node in memory, or one whose topic is away. */
const SERVICE = `
const AWAY = [{ kind: 'kafka', brokers: ['127.0.0.1:1'] }, { kind: 'redis', addresses: ['127.0.0.1:1'] }];
async function run(createNode, topic, readyTimeoutMs) {
  const groups = { orders: { quota: { publish: { messagesPerSecond: 100 } } } };
  const node = await createNode({ nodeId: 'a', env: {}, readyTimeoutMs, config: { cluster: 'shop', topic, groups } });
  await node.close();
  return node.status().version;
}
async function runAll(createNode) {
  const told = ({ code, message }) => code + ' ' + /ECONNREFUSED/.test(message);
  const away = AWAY.map((topic) => run(createNode, topic, 1000).catch(told));
  console.log(...(await Promise.all([run(createNode, 'memory'), ...away])));
  process.exit();
}
`;
const ENTRIES = {
  esm: `import { createNode } from 'quotamesh'; ${SERVICE} await runAll(createNode);`,
  cjs: `const { createNode } = require('quotamesh'); ${SERVICE} runAll(createNode);`,
};
/** What esbuild tells to put before a bundle of CommonJS in ESM. */
const BANNER = `import{createRequire as __cr}from'node:module';const require=__cr(import.meta.url);`;

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'quotamesh-bundled-'));
  return () => rmSync(folder, { recursive: true, force: true });
});

/** Node.js gives code from a flag or a pipe a `__filename` that is no path, for all modules. */
test.each(someOf(['[eval]', '[stdin]']))('code of %s has all of the node, and what subpaths export', async (origin) => {
  const code = `const { createNode } = require('quotamesh'); require('quotamesh/opentelemetry');
createNode({ nodeId: 'a', env: {}, config: { cluster: 'shop', topic: 'memory', groups: {} } })
  .then((node) => node.close())
  .then(() => console.log(__filename));`;
  const ran = promisify(execFile)(process.execPath, origin === '[eval]' ? ['-e', code] : ['-'], { cwd: ROOT });
  ran.child.stdin?.end(origin === '[eval]' ? '' : code);
  expect((await ran).stdout).toBe(`${origin}\n`);
});

test.each(someOf(['cjs', 'esm'] as const))(
  'a service bundled as %s has all of the node, and its version',
  async (format) => {
    // The version of whoever has bundled it is another one.
    const shop = join(folder, format);
    mkdirSync(join(shop, 'dist/server'), { recursive: true });
    onTestFinished(() => rmSync(shop, { recursive: true }));
    writeFileSync(join(shop, 'package.json'), '{ "name": "shop", "version": "9.9.9" }');
    const outfile = join(shop, `dist/server/service.${format === 'esm' ? 'mjs' : 'cjs'}`);
    await build({
      stdin: { contents: ENTRIES[format], resolveDir: ROOT },
      bundle: true,
      platform: 'node',
      target: 'node20',
      format,
      outfile,
      logLevel: 'error',
      external: ['lmdb'],
      banner: format === 'esm' ? { js: BANNER } : {},
    });
    const { stdout } = await promisify(execFile)(process.execPath, [outfile], { cwd: shop });
    expect(stdout).toBe(`${VERSION} NOT_READY true NOT_READY true\n`);
  },
);

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { settingSources } from '../../../src/config/describe/setting-sources.js';
import { testFolder } from './test-folder.js';

const folder = testFolder();

test('every value with its source: default, file and line, variable, flag; a secret is not shown', async () => {
  writeFileSync(
    join(folder, 'node.yaml'),
    `cluster: demo
topic: { kind: kafka, brokers: [ "a:1" ], sasl: { mechanism: plain, username: u, password: s3cret } }
timing:
  heartbeatMs: 900
defaults:
  windowMs: 200
`,
  );
  writeFileSync(join(folder, 'groups.yaml'), 'groups:\n  a:\n    windowMs: 300\n  b: {}\n');
  const env = { QUOTAMESH_HTTP_PORT: '7071', QUOTAMESH_DEFAULTS_DEBT_MS: '5s', QUOTAMESH_TIMING_HEARTBEAT_MS: '' };
  const settings = await settingSources({ file: folder, env, overrides: { nodeId: 'n1' } });
  const found = Object.fromEntries(settings.map(({ key, value, source }) => [key, [value, source]]));
  const node = join(folder, 'node.yaml');
  expect(found).toMatchObject({
    cluster: ['demo', `${node}:1`],
    node: ['n1', '--node'],
    'topic.sasl.password': ['***', `${node}:2`],
    'http.port': [7071, 'QUOTAMESH_HTTP_PORT'],
    'http.host': ['127.0.0.1', 'default'],
    'timing.heartbeatMs': [900, `${node}:4`],
    'groups.a.windowMs': [300, `${join(folder, 'groups.yaml')}:3`],
    'groups.b.windowMs': [200, `${node}:6`],
    'groups.b.debtMs': [5000, 'QUOTAMESH_DEFAULTS_DEBT_MS'],
    'groups.b.strategy': ['max-min', 'default'],
  });
  expect(JSON.stringify(settings)).not.toContain('s3cret');
});

test('a text that comes from a file has the source that names the file', async () => {
  const file = join(folder, 'files.yaml');
  for (const name of ['key', 'previous']) writeFileSync(join(folder, name), name.repeat(11));
  writeFileSync(join(folder, 'tokens.yaml'), `- { name: a, roles: [viewer], hash: "sha256:${'0'.repeat(64)}" }\n`);
  writeFileSync(
    file,
    'cluster: demo\ntopic:\n  kind: memory\n  hmac:\n    key: { file: key }\nauth: { tokens: { file: tokens.yaml } }\ngroups: { a: {} }\n',
  );
  const env = { QUOTAMESH_TOPIC_HMAC_PREVIOUS_KEY_FILE: join(folder, 'previous') };
  const settings = await settingSources({ file, env });
  const sources = Object.fromEntries(settings.map(({ key, source }) => [key, source]));
  expect(sources).toMatchObject({
    'topic.hmac.key': `${file}:5`,
    'topic.hmac.previousKey': 'QUOTAMESH_TOPIC_HMAC_PREVIOUS_KEY_FILE',
    'topic.hmac.verify': 'default',
    'auth.tokens': `${file}:6`,
    'auth.certificates': 'default',
  });
});

test('a short form gives what it stands for, and nothing else', async () => {
  const file = join(folder, 'short.yaml');
  writeFileSync(
    file,
    'cluster: demo\ngroups:\n  a:\n    quota: { publish: { messagesPerSecond: 10 } }\n    burst: 10\n',
  );
  const settings = await settingSources({ file });
  const sources = Object.fromEntries(settings.map(({ key, source }) => [key, source]));
  expect(sources).toMatchObject({
    'groups.a.burst.messages': `${file}:5`,
    'groups.a.burst.bytes': 'default',
    'groups.a.burst.quotaMs': 'default',
    'groups.a.burst.policy': 'default',
  });
});

test('an override that is named by its value has its own line, else that of its template, else of the defaults', async () => {
  const file = join(folder, 'keys.yaml');
  const lines = [
    'cluster: demo',
    'defaults:',
    '  debtMs: 5s',
    'keys:',
    '  "key:{id}":',
    '    burst: 10',
    '    overrides:',
    '      bob: { burst: 20 }',
    '      key:carol: { mode: shadow }',
  ];
  writeFileSync(file, lines.join('\n'));
  const settings = await settingSources({ file });
  const sources = Object.fromEntries(settings.map(({ key, source }) => [key, source]));
  expect(sources).toMatchObject({
    'keys.key:{id}.burst.messages': `${file}:6`,
    'keys.key:{id}.debtMs': `${file}:3`,
    'keys.key:{id}.mode': 'default',
    'keys.key:{id}.overrides.key:bob.burst.messages': `${file}:8`,
    'keys.key:{id}.overrides.key:bob.debtMs': `${file}:3`,
    'keys.key:{id}.overrides.key:carol.mode': `${file}:9`,
    'keys.key:{id}.overrides.key:carol.burst.messages': `${file}:6`,
    'keys.maxLive': 'default',
  });
});

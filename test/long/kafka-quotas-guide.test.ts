import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { COMMAND_FILE, PACKAGE_ROOT } from '../../src/package/package-root.js';
import { freePorts } from '../../src/processes/free-ports.js';
import { exporterAgent, findDistribution } from '../kafka/distribution.js';

const ROOT = fileURLToPath(PACKAGE_ROOT);
/** The page has these ports; free ones of this machine stand for them. */
const PORTS = ['9092', '9093', '9094', '7071', '7072', '7090'];
const RUN_MS = 300_000;

interface Block {
  readonly language: string;
  readonly text: string;
  /** The file that the text before it names. */
  readonly file: string | null;
}

/** The blocks of the part of the page that says how to begin, with ports of this machine. */
async function blocksOfPage(): Promise<readonly Block[]> {
  const page = readFileSync(join(ROOT, 'docs/guide/kafka-quotas.md'), 'utf8');
  const [, part = ''] = page.split('## Two brokers on one machine\n');
  const [first = ''] = part.split('\n## ');
  const free = await freePorts(PORTS.length);
  const local = PORTS.reduce((text, port, at) => text.replaceAll(port, String(free[at])), first);
  const found = [...local.matchAll(/([^`]*(?:`[^`\n]+`[^`]*)*)```(\w+)\n([\s\S]*?)```/g)];
  return found.map(([, before = '', language = '', text = '']) => {
    const file = /saved as `([\w.-]+)`/i.exec(before)?.[1] ?? null;
    return { language, text, file: language === 'sh' ? null : file };
  });
}

/** What the page expects in the PATH, from the jars and the build that the tests have. */
async function commandsIn(folder: string): Promise<void> {
  const distribution = await findDistribution();
  if (distribution.kind !== 'java') throw new Error('the page runs Kafka by Java');
  const agent = await exporterAgent(distribution);
  const java = `exec java -Xmx384m -XX:TieredStopAtLevel=1 -XX:+UseSerialGC`;
  const commands = {
    'kafka-storage.sh': `${java} -cp '${distribution.classPath}' kafka.tools.StorageTool "$@"`,
    'kafka-server-start.sh': `${java} $KAFKA_OPTS -cp '${distribution.classPath}' kafka.Kafka "$@"`,
    mvn: `cp '${agent}' jmx_prometheus_javaagent.jar`,
    npm: `mkdir node_modules && ln -s '${ROOT}' node_modules/quotamesh && ln -s '${ROOT}/node_modules/kafkajs' node_modules/kafkajs`,
    npx: `shift; exec '${process.execPath}' '${COMMAND_FILE}' "$@"`,
  };
  for (const [name, text] of Object.entries(commands)) {
    writeFileSync(join(folder, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  }
}

test('the commands of docs/guide/kafka-quotas.md, from nothing to a quota of two brokers and its release', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'quotamesh-guide-'));
  const bin = mkdtempSync(join(tmpdir(), 'quotamesh-guide-bin-'));
  await commandsIn(bin);
  const blocks = await blocksOfPage();
  for (const { file, text } of blocks) if (file !== null) writeFileSync(join(folder, file), text);
  const yaml = blocks.find(({ file }) => file === 'keeper.yaml')?.text ?? '';
  const pages = [...yaml.matchAll(/"(http:[^"]+)"/g)].map(([, url]) => url);
  // A person sees when the brokers are up; a script has to wait for their pages.
  const untilUp = pages.map((url) => `until curl -fs ${url} >/dev/null; do sleep 0.3; done`).join('\n');
  const scripts = blocks.filter(({ language }) => language === 'sh').map(({ text }) => text);
  const script = ['set -e', ...scripts.map((text) => `${text}\n${text.includes('server-start') ? untilUp : ''}`)].join(
    '\n',
  );
  const shell = spawn('bash', ['-c', script], {
    cwd: folder,
    // A group of its own, so that the brokers end with it.
    detached: true,
    env: { ...process.env, PATH: `${bin}:${process.env.PATH}` },
  });
  const end = () => {
    try {
      process.kill(-(shell.pid as number), 'SIGKILL');
    } catch {
      // Nobody of the group is left.
    }
  };
  process.once('exit', end);
  onTestFinished(() => {
    end();
    process.off('exit', end);
    for (const each of [folder, bin]) rmSync(each, { recursive: true, force: true });
  });
  let output = '';
  for (const stream of [shell.stdout, shell.stderr]) stream.on('data', (chunk) => (output += chunk));
  const timer = setTimeout(end, RUN_MS);
  const code = await new Promise((resolve) => shell.once('exit', resolve));
  clearTimeout(timer);
  const log = readFileSync(join(folder, 'keeper.log'), 'utf8');
  expect(code, `${output}\n${log}`).toBe(0);
  expect(output).toContain('keeper.yaml: valid');
  const status = JSON.parse(/^\{.*\}$/m.exec(output.replaceAll('}client-id', '}\nclient-id'))?.[0] ?? 'null');
  console.log(output);
  expect(status.limits[0]).toMatchObject({ entity: 'client-id app', quota: 500_000, state: 'kept' });
  expect(status.limits[0].inForce).toBeLessThanOrEqual(500_000);
  expect(output).toMatch(/client-id app: producer_byte_rate \d+ → removed/);
});

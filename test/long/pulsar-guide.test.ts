import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { COMMAND_FILE, PACKAGE_ROOT } from '../../src/package/package-root.js';
import { freePorts } from '../../src/processes/free-ports.js';
import { PulsarAdmin } from '../pulsar/admin-client.js';
import { JAVA_FLAGS, pulsarClassPath } from '../pulsar/broker/pulsar-cluster.js';

const ROOT = fileURLToPath(PACKAGE_ROOT);
/** The page has these ports; free ones of this machine stand for them. */
const PORTS = ['2181', '3181', '6651', '6652', '8081', '8082', '7071', '7072'];
const RUN_MS = 900_000;
const PER_SECOND = 50;
const MESSAGES = 1000;

interface Block {
  readonly language: string;
  readonly text: string;
  /** The file that the text before it names. */
  readonly file: string | null;
}

/** The blocks of the part of the page that says how to begin, with ports of this machine. */
async function blocksOfPage(): Promise<readonly Block[]> {
  const page = readFileSync(join(ROOT, 'docs/guide/pulsar.md'), 'utf8');
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
  const [pulsar, admin] = [await pulsarClassPath(), (await PulsarAdmin.fetch()).classPath];
  const server = `exec java ${JAVA_FLAGS.join(' ')} -XX:MaxDirectMemorySize=256m -Xmx300m -cp '${pulsar}'`;
  const tool = `exec java -Xmx256m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp '${admin}'`;
  const linked = `mkdir -p node_modules/quotamesh/adapters/pulsar`;
  const commands = {
    pulsar: `command=$1; shift
case $command in
zookeeper) ${server} org.apache.zookeeper.server.quorum.QuorumPeerMain "$PULSAR_ZK_CONF" ;;
initialize-cluster-metadata) ${server} org.apache.pulsar.PulsarClusterMetadataSetup "$@" ;;
bookie) ${server} org.apache.bookkeeper.server.Main --conf "$PULSAR_BOOKKEEPER_CONF" ;;
broker) ${server} org.apache.pulsar.PulsarBrokerStarter --broker-conf "$PULSAR_BROKER_CONF" ;;
esac`,
    'pulsar-admin': `${tool} org.apache.pulsar.admin.cli.PulsarAdminTool /dev/null "$@"`,
    'pulsar-client': `${tool} org.apache.pulsar.client.cli.PulsarClientTool /dev/null "$@"`,
    mvn: `${linked} && cp -r '${ROOT}/adapters/pulsar/target' node_modules/quotamesh/adapters/pulsar/`,
    npm: 'true',
    npx: `shift; exec '${process.execPath}' '${COMMAND_FILE}' "$@"`,
  };
  for (const [name, text] of Object.entries(commands)) {
    writeFileSync(join(folder, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  }
}

test('the commands of docs/guide/pulsar.md, from nothing to a group that holds in two brokers', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'quotamesh-guide-'));
  const bin = mkdtempSync(join(tmpdir(), 'quotamesh-guide-bin-'));
  await commandsIn(bin);
  const blocks = await blocksOfPage();
  for (const { file, text } of blocks) if (file !== null) writeFileSync(join(folder, file), text);
  const scripts = blocks.filter(({ language }) => language === 'sh').map(({ text }) => text);
  const shell = spawn('bash', ['-c', ['set -e', ...scripts].join('\n')], {
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
  console.log(output);
  expect(code, output).toBe(0);
  expect(output).toContain('node-1.yaml: valid');
  const [, minutes = '', seconds = ''] = /real\s+(\d+)m([\d.]+)s/.exec(output) ?? [];
  // The client starts, too; and two brokers without the plugin take half of the time.
  expect(60 * Number(minutes) + Number(seconds)).toBeGreaterThan((0.9 * MESSAGES) / PER_SECOND);
  const publish = (name: string) =>
    new RegExp(`${name}\\{resource_group="orders",direction="publish"\\} ([\\d.]+)`, 'g');
  const sumOf = (name: string) =>
    [...output.matchAll(publish(name))].reduce((sum, [, value]) => sum + Number(value), 0);
  expect(sumOf('admitted_messages_total')).toBe(MESSAGES);
  expect(sumOf('share_messages_per_second')).toBeLessThanOrEqual(1.03 * PER_SECOND);
});

import { expect, test } from 'vitest';
import { COMMAND_FILE } from '../../src/base/package/package-root.js';
import { blocksOfGuide, runGuide } from '../guide-run.js';
import { PulsarAdmin } from '../pulsar/admin-client.js';
import { builtPlugin } from '../pulsar/broker/built-plugin.js';
import { JAVA_FLAGS, pulsarClassPath } from '../pulsar/broker/pulsar-cluster.js';

/** The page has these ports; free ones of this machine stand for them. */
const PORTS = ['2181', '3181', '6651', '6652', '8081', '8082', '7071', '7072'];
const RUN_MS = 900_000;
const PER_SECOND = 50;
const MESSAGES = 1000;

/** What the page expects in the PATH, from the jars and the build that the tests have. */
async function commands(): Promise<Record<string, string>> {
  const [pulsar, admin] = [await pulsarClassPath(), (await PulsarAdmin.fetch()).classPath];
  const server = `exec java ${JAVA_FLAGS.join(' ')} -XX:MaxDirectMemorySize=256m -Xmx300m -cp '${pulsar}'`;
  const tool = `exec java -Xmx256m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp '${admin}'`;
  const linked = `mkdir -p node_modules/quotamesh/adapters/pulsar`;
  return {
    pulsar: `command=$1; shift
case $command in
zookeeper) ${server} org.apache.zookeeper.server.quorum.QuorumPeerMain "$PULSAR_ZK_CONF" ;;
initialize-cluster-metadata) ${server} org.apache.pulsar.PulsarClusterMetadataSetup "$@" ;;
bookie) ${server} org.apache.bookkeeper.server.Main --conf "$PULSAR_BOOKKEEPER_CONF" ;;
broker) ${server} org.apache.pulsar.PulsarBrokerStarter --broker-conf "$PULSAR_BROKER_CONF" ;;
esac`,
    'pulsar-admin': `${tool} org.apache.pulsar.admin.cli.PulsarAdminTool /dev/null "$@"`,
    'pulsar-client': `${tool} org.apache.pulsar.client.cli.PulsarClientTool /dev/null "$@"`,
    mvn: `${linked} && cp -r '${await builtPlugin()}' node_modules/quotamesh/adapters/pulsar/`,
    npm: 'true',
    npx: `shift; exec '${process.execPath}' '${COMMAND_FILE}' "$@"`,
  };
}

test('the commands of docs/guide/pulsar.md, from nothing to a group that holds in two brokers', async () => {
  const blocks = await blocksOfGuide('docs/guide/pulsar.md', PORTS);
  const { code, output } = await runGuide({ blocks, commands: await commands(), timeoutMs: RUN_MS });
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

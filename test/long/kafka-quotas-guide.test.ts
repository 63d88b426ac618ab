import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { COMMAND_FILE, PACKAGE_ROOT } from '../../src/base/package/package-root.js';
import { blocksOfGuide, runGuide } from '../guide-run.js';
import { exporterAgent, findDistribution } from '../kafka/distribution.js';

const ROOT = fileURLToPath(PACKAGE_ROOT);
/** The page has these ports; free ones of this machine stand for them. */
const PORTS = ['9092', '9093', '9094', '7071', '7072', '7090'];
const RUN_MS = 300_000;

/** What the page expects in the PATH, from the jars and the build that the tests have. */
async function commands(): Promise<Record<string, string>> {
  const distribution = await findDistribution();
  if (distribution.kind !== 'java') throw new Error('the page runs Kafka by Java');
  const agent = await exporterAgent(distribution);
  const java = `exec java -Xmx384m -XX:TieredStopAtLevel=1 -XX:+UseSerialGC`;
  return {
    'kafka-storage.sh': `${java} -cp '${distribution.classPath}' kafka.tools.StorageTool "$@"`,
    'kafka-server-start.sh': `${java} $KAFKA_OPTS -cp '${distribution.classPath}' kafka.Kafka "$@"`,
    mvn: `cp '${agent}' jmx_prometheus_javaagent.jar`,
    npm: `mkdir node_modules && ln -s '${ROOT}' node_modules/quotamesh && ln -s '${ROOT}/node_modules/kafkajs' node_modules/kafkajs`,
    npx: `shift; exec '${process.execPath}' '${COMMAND_FILE}' "$@"`,
  };
}

test('the commands of docs/guide/kafka-quotas.md, from nothing to a quota of two brokers and its release', async () => {
  const blocks = await blocksOfGuide('docs/guide/kafka-quotas.md', PORTS);
  const run = { blocks, commands: await commands(), timeoutMs: RUN_MS };
  const { code, output, folder } = await runGuide(run);
  const log = readFileSync(join(folder, 'keeper.log'), 'utf8');
  expect(code, `${output}\n${log}`).toBe(0);
  expect(output).toContain('keeper.yaml: valid');
  const status = JSON.parse(/^\{.*\}$/m.exec(output.replaceAll('}client-id', '}\nclient-id'))?.[0] ?? 'null');
  console.log(output);
  expect(status.limits[0]).toMatchObject({ entity: 'client-id app', quota: 500_000, state: 'kept' });
  expect(status.limits[0].inForce).toBeLessThanOrEqual(500_000);
  expect(output).toMatch(/client-id app: producer_byte_rate \d+ → removed/);
});

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { COMMAND_FILE } from '../../src/base/package/package-root.js';
import type { MqttStatus } from '../../src/doors/mqtt/mqtt-status.js';
import { Child } from '../../src/tools/processes/child.js';
import type { WrittenGroup, WrittenSettings, WrittenTopic } from '../written-settings.js';

const STOP_PATIENCE_MS = 6000;
const CLI_URL = new URL('../../dist/src/cli.js', import.meta.url);
const CONSTANTS_URL = new URL('../../dist/src/config/resolved/constants.js', import.meta.url);
const START_TIMEOUT_MS = 30_000;

/** `quotamesh mqtt` as an operating system process, as a user would start it. */
export interface BrokerProcess {
  readonly id: string;
  readonly mqttUrl: string;
  readonly httpUrl: string;
  readonly child: Child;
  status(): Promise<MqttStatus>;
  metrics(): Promise<string>;
}

export interface BrokersOptions {
  /** As `topic:` in YAML; embedded ones use a folder of their own. */
  readonly topic: WrittenTopic;
  readonly groups: Readonly<Record<string, WrittenGroup>>;
  readonly mqtt: Extract<WrittenSettings['mqtt'], object>;
  readonly settings?: WrittenSettings;
  /** Set before the command begins: no configuration says them. */
  readonly constants?: Readonly<Record<string, number>>;
}

/** Brokers of one cluster; `stop` ends them and removes their folder. */
export class Brokers {
  readonly #folder: string;
  readonly #options: BrokersOptions;
  readonly #brokers: BrokerProcess[] = [];

  constructor(folder: string, options: BrokersOptions) {
    this.#folder = folder;
    this.#options = options;
  }

  static async start(options: BrokersOptions, ids: readonly string[]): Promise<[Brokers, ...BrokerProcess[]]> {
    const brokers = new Brokers(await mkdtemp(join(tmpdir(), 'quotamesh-mqtt-')), options);
    try {
      return [brokers, ...(await Promise.all(ids.map((id) => brokers.#spawn(id))))];
    } catch (error) {
      await brokers.stop();
      throw error;
    }
  }

  async stop(): Promise<void> {
    await Promise.all(this.#brokers.map(({ child }) => child.stop(STOP_PATIENCE_MS)));
    await rm(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  }

  /** The bundle, or its modules, so that constants can be set before they are used. */
  #command(): readonly string[] {
    const { constants } = this.#options;
    if (constants === undefined) return [COMMAND_FILE];
    const code = `import { CONSTANTS } from '${CONSTANTS_URL}'; Object.assign(CONSTANTS.mqtt, ${JSON.stringify(constants)});`;
    return [`--import=data:text/javascript,${code}`, fileURLToPath(CLI_URL)];
  }

  async #spawn(id: string): Promise<BrokerProcess> {
    const { topic, groups, mqtt, settings = {} } = this.#options;
    const file = join(this.#folder, `${id}.yaml`);
    const written =
      typeof topic === 'string' ? { kind: topic, ...(topic === 'embedded' ? { path: './state' } : {}) } : topic;
    const config = { cluster: 'mqtt', node: id, topic: written, http: { port: 0 }, mqtt: { port: 0, ...mqtt }, groups };
    await writeFile(file, JSON.stringify({ ...config, ...settings }));
    const child = new Child([...this.#command(), 'mqtt', '--config', file]);
    const found = (pattern: RegExp) => untilWritten(child, pattern);
    const broker: BrokerProcess = {
      id,
      child,
      mqttUrl: await found(/"url":"(mqtt:[^"]+)"/),
      httpUrl: await found(/"url":"(http:[^"]+)"/),
      status: async () => (await (await fetch(`${broker.httpUrl}/v1/mqtt`)).json()) as MqttStatus,
      metrics: async () => await (await fetch(`${broker.httpUrl}/metrics`)).text(),
    };
    this.#brokers.push(broker);
    await found(/node ready/);
    return broker;
  }
}

async function untilWritten(child: Child, pattern: RegExp): Promise<string> {
  const deadline = performance.now() + START_TIMEOUT_MS;
  while (performance.now() < deadline && child.isRunning) {
    const match = pattern.exec(child.output);
    if (match !== null) return match[1] ?? '';
    await sleep(10);
  }
  child.signal('SIGKILL');
  throw new Error(`the broker never wrote ${pattern}:\n${child.logEnd()}`);
}

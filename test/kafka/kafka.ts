/**
 * A real Kafka for tests, started by the tests themselves on free loopback ports.
 *
 *   const kafka = await startKafka();                  // one broker of your own, ready for use
 *   kafka.brokers                                      // ['127.0.0.1:40001'], what `topic.brokers` wants
 *   await kafka.nodes[0].kill();                       // kill -9
 *   await kafka.nodes[0].start();                      // again, on the same ports and log directories
 *   await kafka.nodes[0].freeze();                     // SIGSTOP: sockets stay open and silent; resolves when it stands
 *   await kafka.nodes[0].thaw();                       // SIGCONT; also of one that is not frozen
 *   await kafka.stop();                                // kills and removes everything; also when the test process dies
 *
 *   await startKafka({ nodes: 3 })                     // three combined nodes, about 330 MB each
 *   await startKafka({ properties: { 'x.y': 'z' } })   // further lines of server.properties, or other values of ours
 *
 * A broker that many tests share is had from `sharedKafka()` (shared-kafka.ts); use one of your own only to break it.
 *
 * Where the broker comes from (distribution.ts): Java 17 and Maven (jars cached under the user's cache folder); else a
 * container engine that answers within 5 s; else an error of one line that says what to install. With CI=true on
 * Debian as root, Java and Maven are installed with apt-get.
 *
 * group.initial.rebalance.delay.ms keeps Kafka's default of 3 s on purpose: quotamesh uses no group and must not wait.
 */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePorts } from '../../src/tools/processes/free-ports.js';
import { adminOf } from './admin.js';
import { brokerProperties, type NodePorts } from './broker-properties.js';
import { ContainerNode } from './container-node.js';
import { type Distribution, exporterAgent, findDistribution } from './distribution.js';
import { JavaNode } from './java-node.js';

export interface KafkaOptions {
  /** Combined broker and controller nodes; 1 to 3. Of two both must run. */
  readonly nodes?: number;
  /** Lines of server.properties, for every node; they win over those of broker-properties.ts. */
  readonly properties?:
    | Readonly<Record<string, string>>
    | ((ports: NodePorts, place: number) => Readonly<Record<string, string>>);
  /**
   * One per node. Any free ones by default: those may be taken by an outgoing connection while their broker is down, which a run of many
   * restarts would meet.
   */
  readonly ports?: readonly NodePorts[];
  /** Further arguments of `StorageTool format`, e.g. `--add-scram`. */
  readonly formatArguments?: readonly string[];
  /** The JMX exporter at every node, with the rules of this file; its pages are at `exporters`. Java alone. */
  readonly exporterRules?: string;
  /** Variables of each node's environment. Java alone. */
  readonly environment?: (place: number) => Readonly<Record<string, string>>;
}

export interface Kafka {
  /** host:port of each node. */
  readonly brokers: readonly string[];
  readonly ports: readonly NodePorts[];
  /** Addresses of the pages of the exporters, where there are any. */
  readonly exporters: readonly string[];
  readonly nodes: readonly KafkaNode[];
  /** Resolves when every node takes requests and counts as alive. */
  untilReady(): Promise<void>;
  stop(): Promise<void>;
}

export interface KafkaNode {
  readonly address: string;
  isRunning(): boolean;
  /** Starts a killed node again; resolves when all running nodes are ready. */
  start(): Promise<void>;
  /** kill -9; resolves when it has ended. */
  kill(): Promise<void>;
  freeze(): Promise<void>;
  thaw(): Promise<void>;
}

/** What each kind of node brings. */
export interface NodeProcess {
  launch(): Promise<void>;
  kill(): Promise<void>;
  freeze(): Promise<void>;
  thaw(): Promise<void>;
  isRunning(): boolean;
  /** Why it ended, as far as it said. */
  lastWords(): string;
  remove(): Promise<void>;
}

/** For `beforeAll`: the first run on a machine may install Java and fetch the jars. */
export const KAFKA_START_TIMEOUT_MS = 300_000;
/** Another process can take a free port before the broker binds it. */
const START_ATTEMPTS = 3;
/** About 2 s on an idle machine; JVM starts suffer most from a busy one. */
const READY_TIMEOUT_MS = 60_000;
const READY_POLL_MS = 50;

export async function startKafka(options: KafkaOptions = {}): Promise<Kafka> {
  const distribution = await findDistribution();
  const agent = options.exporterRules === undefined ? null : await exporterAgent(distribution);
  for (let attempt = 1; ; attempt++) {
    const kafka = await KafkaCluster.create(distribution, options, agent);
    try {
      await kafka.launch();
      return kafka;
    } catch (error) {
      await kafka.stop();
      if (attempt === START_ATTEMPTS) throw error;
    }
  }
}

class KafkaCluster implements Kafka {
  readonly brokers: readonly string[];
  readonly ports: readonly NodePorts[];
  readonly exporters: readonly string[];
  readonly nodes: readonly KafkaNode[];
  readonly #processes: readonly NodeProcess[];
  readonly #scratch: string;

  static async create(distribution: Distribution, options: KafkaOptions, agent: string | null): Promise<KafkaCluster> {
    const scratch = await mkdtemp(join(tmpdir(), 'quotamesh-kafka-'));
    const count = options.nodes ?? 1;
    const ports = options.ports ?? (await anyPorts(count));
    return new KafkaCluster(distribution, options, ports, scratch, agent);
  }

  constructor(
    distribution: Distribution,
    options: KafkaOptions,
    ports: readonly NodePorts[],
    scratch: string,
    agent: string | null,
  ) {
    this.#scratch = scratch;
    const clusterId = randomBytes(16).toString('base64url');
    this.brokers = ports.map(({ client }) => `127.0.0.1:${client}`);
    this.ports = ports;
    this.exporters = agent === null ? [] : ports.map(({ spare }) => `http://127.0.0.1:${spare}/metrics`);
    this.#processes = ports.map((own, i) => {
      const folder = join(scratch, `node-${i + 1}`);
      const extra = typeof options.properties === 'function' ? options.properties(own, i) : options.properties;
      const properties = { ...brokerProperties(i + 1, ports, join(folder, 'log')), ...extra };
      const javaAgents = agent === null ? [] : [`${agent}=127.0.0.1:${own.spare}:${options.exporterRules}`];
      const { formatArguments = [], environment = () => ({}) } = options;
      const setUp = { properties, folder, clusterId, formatArguments, javaAgents, environment: environment(i) };
      return distribution.kind === 'java'
        ? new JavaNode(distribution.classPath, setUp, scratch)
        : new ContainerNode(distribution.engine, setUp);
    });
    this.nodes = this.#processes.map((node, i) => ({
      address: this.brokers[i],
      isRunning: () => node.isRunning(),
      start: () => node.launch().then(() => this.untilReady()),
      kill: () => node.kill(),
      freeze: () => node.freeze(),
      thaw: () => node.thaw(),
    }));
  }

  async launch(): Promise<void> {
    await Promise.all(this.#processes.map((node) => node.launch()));
    await this.untilReady();
  }

  /** A broker accepts connections before it is a member; only then can it hold a topic. */
  async untilReady(): Promise<void> {
    const givenUpAt = performance.now() + READY_TIMEOUT_MS;
    const running = this.#processes.filter((node) => node.isRunning());
    const addresses = this.brokers.filter((_, i) => this.#processes[i].isRunning());
    for (;;) {
      const ended = running.find((node) => !node.isRunning());
      if (ended) throw new Error(`the Kafka broker ended while it started: ${ended.lastWords()}`);
      if ((await membersSeenBy(addresses)) >= running.length) return;
      if (performance.now() > givenUpAt) throw new Error(`Kafka not ready within ${READY_TIMEOUT_MS} ms`);
      await sleep(READY_POLL_MS);
    }
  }

  async stop(): Promise<void> {
    await Promise.all(this.#processes.map((node) => node.remove()));
    await rm(this.#scratch, { recursive: true, force: true });
  }
}

async function anyPorts(count: number): Promise<NodePorts[]> {
  const free = await freePorts(3 * count);
  return Array.from({ length: count }, (_, i) => {
    const [client, controller, spare] = free.slice(3 * i);
    return { client, controller, spare };
  });
}

/** The smallest number of members that any of the nodes knows; 0 when one does not answer. */
async function membersSeenBy(addresses: readonly string[]): Promise<number> {
  const counts = await Promise.all(
    addresses.map(async (address) => {
      const admin = adminOf([address], { retries: 0 });
      try {
        await admin.connect();
        return (await admin.describeCluster()).brokers.length;
      } catch {
        return 0;
      } finally {
        await admin.disconnect().catch(() => {});
      }
    }),
  );
  return Math.min(...counts);
}

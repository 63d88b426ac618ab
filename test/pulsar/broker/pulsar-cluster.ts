import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePorts } from '../../../src/tools/processes/free-ports.js';
import { fetchJars } from '../../kafka/distribution.js';
import { type GuardedProcess, startGuarded } from '../../kafka/guarded-process.js';

const VERSION = '4.0.7';
/** Two brokers start in 10 to 20 s of two idle cores; on one that others hold, in minutes. */
const START_MS = 600_000;
const STOP_MS = 8000;
export const PULSAR_START_TIMEOUT_MS = 1_200_000;

const OPENED = [
  'java.base/java.nio',
  'java.base/jdk.internal.misc',
  'java.base/jdk.internal.platform',
  'java.base/sun.net',
  'java.base/java.lang',
  'java.base/java.util.zip',
  'java.base/sun.nio.ch',
  'java.base/jdk.internal.loader',
  'java.management/sun.management',
].flatMap((module) => ['--add-opens', `${module}=ALL-UNNAMED`]);
/** Every JVM of a Pulsar has these. */
export const JAVA_FLAGS = ['-XX:+UseSerialGC', '-Dio.netty.tryReflectionSetAccessible=true', ...OPENED];
/** Caches of a server for a few megabytes. */
const SMALL_BOOKIE = {
  journalMaxSizeMB: 64,
  journalPreAllocSizeMB: 4,
  journalSyncData: false,
  dbStorage_writeCacheMaxSizeMb: 16,
  dbStorage_readAheadCacheMaxSizeMb: 8,
  dbStorage_rocksDB_blockCacheSize: 4_194_304,
  entryLogFilePreallocationEnabled: false,
  minUsableSizeForEntryLogCreation: 1,
  minUsableSizeForIndexFileCreation: 1,
  diskUsageThreshold: 0.99,
  diskUsageWarnThreshold: 0.98,
};
const SMALL_BROKER = {
  managedLedgerDefaultEnsembleSize: 1,
  managedLedgerDefaultWriteQuorum: 1,
  managedLedgerDefaultAckQuorum: 1,
  managedLedgerCacheSizeMB: 16,
  numIOThreads: 2,
  numHttpServerThreads: 8,
  numExecutorThreadPoolSize: 4,
  brokerShutdownTimeoutMs: 1000,
  loadBalancerSheddingEnabled: false,
  loadBalancerAutoBundleSplitEnabled: false,
  transactionCoordinatorEnabled: false,
};

export interface ClusterOptions {
  readonly brokers: number;
  /** Lines of broker.conf, of each broker. */
  settings?(broker: number): Readonly<Record<string, string | number>>;
}

/** The jars that are a Pulsar, and its client. */
export async function pulsarClassPath(): Promise<string> {
  const jars = { pom: join(import.meta.dirname, 'pom.xml'), name: `pulsar-broker-${VERSION}` };
  return join(await fetchJars(jars), '*');
}

/** ZooKeeper, a bookie and brokers, on free ports of this machine. */
export class PulsarCluster {
  readonly brokers: readonly PulsarBroker[];
  readonly #others: readonly GuardedProcess[];
  readonly #folder: string;

  private constructor(brokers: readonly PulsarBroker[], others: readonly GuardedProcess[], folder: string) {
    this.brokers = brokers;
    this.#others = others;
    this.#folder = folder;
  }

  static async start({ brokers: count, settings = () => ({}) }: ClusterOptions): Promise<PulsarCluster> {
    const classPath = await pulsarClassPath();
    const folder = await mkdtemp(join(tmpdir(), 'quotamesh-pulsar-'));
    const [zooKeeper = 0, bookie = 0, ...ports] = await freePorts(2 + 2 * count);
    const brokers = Array.from({ length: count }, (_, at) => {
      const [service = 0, web = 0] = ports.slice(2 * at, 2 * at + 2);
      return new PulsarBroker({ classPath, folder, name: `broker-${at + 1}`, zooKeeper, service, web }, settings(at));
    });
    const others: GuardedProcess[] = [];
    const cluster = new PulsarCluster(brokers, others, folder);
    try {
      await writeFile(join(folder, 'zoo.cfg'), linesOf(zooKeeperConf(folder, zooKeeper)));
      const quorum = 'org.apache.zookeeper.server.quorum.QuorumPeerMain';
      others.push(await java(classPath, ['-Xmx64m'], [quorum, join(folder, 'zoo.cfg')]));
      await untilOpen(zooKeeper);
      const metadata = await java(classPath, ['-Xmx128m'], metadataArguments(zooKeeper, brokers));
      await metadata.ended;
      await writeFile(join(folder, 'bookie.conf'), linesOf(bookieConf(folder, bookie, zooKeeper)));
      const heap = ['-Xmx128m', '-XX:MaxDirectMemorySize=128m'];
      const server = ['org.apache.bookkeeper.server.Main', '--conf', join(folder, 'bookie.conf')];
      others.push(await java(classPath, heap, server));
      await untilOpen(bookie);
      await Promise.all(brokers.map((broker) => broker.launch()));
      return cluster;
    } catch (error) {
      const words = others.map((other) => other.errorLines()).join('\n');
      await cluster.stop();
      throw new Error(`no Pulsar: ${error}\n${words}`);
    }
  }

  /** Made at any broker, for all. */
  async admin(method: string, path: string, body?: unknown): Promise<Response> {
    const [first] = this.brokers.filter((broker) => broker.isRunning());
    return first.admin(method, path, body);
  }

  /** A namespace, in a group if there is one, and topics in it. */
  async createTopics(namespace: string, group: string | null, topics: readonly string[]): Promise<void> {
    await this.admin('PUT', 'tenants/public', { allowedClusters: ['c1'] });
    await this.#must('PUT', `namespaces/public/${namespace}`, { bundles: { numBundles: 16 } });
    if (group !== null) {
      await this.#must('POST', `namespaces/public/${namespace}/resourcegroup/${encodeURIComponent(group)}`);
    }
    for (const topic of topics) await this.#must('PUT', `persistent/public/${namespace}/${topic}`);
  }

  async putGroup(group: string, rates: Readonly<Record<string, number>>): Promise<void> {
    await this.#must('PUT', `resourcegroups/${encodeURIComponent(group)}`, rates);
  }

  /** Returns a topic at each broker. Which one owns a topic is chance: a broker that has none is given a bundle. */
  async oneTopicEach(namespace: string, topics: readonly string[]): Promise<string[]> {
    const owners = new Map<string, string>();
    /** The first topic of each bundle. */
    const bundles = new Map<string, string>();
    for (const topic of topics) {
      const { brokerUrl } = (await (await this.#lookUp(namespace, topic)).json()) as { readonly brokerUrl: string };
      const bundle = await (await this.#lookUp(namespace, topic, '/bundle')).text();
      if (bundles.has(bundle)) continue;
      bundles.set(bundle, topic);
      if (!owners.has(brokerUrl)) owners.set(brokerUrl, topic);
    }
    const kept = new Set(owners.values());
    const spare = [...bundles].filter(([, topic]) => !kept.has(topic));
    for (const { serviceUrl, webUrl, name } of this.brokers) {
      if (owners.has(serviceUrl)) continue;
      const moved = spare.pop();
      if (moved === undefined) throw new Error(`${bundles.size} bundles are too few for ${name}`);
      const [bundle, topic] = moved;
      const path = `namespaces/public/${namespace}/${bundle}/unload?destinationBroker=${new URL(webUrl).host}`;
      await this.#must('PUT', path);
      owners.set(serviceUrl, topic);
    }
    return this.brokers.map(({ serviceUrl }) => `persistent://public/${namespace}/${owners.get(serviceUrl)}`);
  }

  #lookUp(namespace: string, topic: string, what = ''): Promise<Response> {
    return fetch(new URL(`/lookup/v2/topic/persistent/public/${namespace}/${topic}${what}`, this.brokers[0]?.webUrl));
  }

  /** Brokers first: one whose ZooKeeper is gone hangs. */
  async stop(): Promise<void> {
    await Promise.all(this.brokers.map((broker) => broker.stop()));
    for (const other of [...this.#others].reverse()) await ended(other);
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #must(method: string, path: string, body?: unknown): Promise<void> {
    const answer = await this.admin(method, path, body);
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
  }
}

interface BrokerParts {
  readonly classPath: string;
  readonly folder: string;
  readonly name: string;
  readonly zooKeeper: number;
  readonly service: number;
  readonly web: number;
}

export class PulsarBroker {
  readonly name: string;
  readonly serviceUrl: string;
  readonly webUrl: string;
  readonly #parts: BrokerParts;
  readonly #settings: Readonly<Record<string, string | number>>;
  #process: GuardedProcess | undefined;

  constructor(parts: BrokerParts, settings: Readonly<Record<string, string | number>>) {
    this.#parts = parts;
    this.#settings = settings;
    this.name = parts.name;
    this.serviceUrl = `pulsar://127.0.0.1:${parts.service}`;
    this.webUrl = `http://127.0.0.1:${parts.web}`;
  }

  async launch(): Promise<void> {
    const { classPath, folder, name, zooKeeper, service, web } = this.#parts;
    const file = join(folder, `${name}.conf`);
    const conf = {
      ...SMALL_BROKER,
      metadataStoreUrl: `zk:127.0.0.1:${zooKeeper}`,
      configurationMetadataStoreUrl: `zk:127.0.0.1:${zooKeeper}`,
      clusterName: 'c1',
      brokerServicePort: service,
      webServicePort: web,
      bindAddress: '127.0.0.1',
      advertisedAddress: '127.0.0.1',
      narExtractionDirectory: join(folder, `${name}-nar`),
      ...this.#settings,
    };
    await mkdir(conf.narExtractionDirectory, { recursive: true });
    await writeFile(file, linesOf(conf));
    const heap = ['-Xmx300m', '-XX:MaxDirectMemorySize=256m'];
    this.#process = await java(classPath, heap, ['org.apache.pulsar.PulsarBrokerStarter', '--broker-conf', file]);
    const deadline = performance.now() + START_MS;
    while (!(await this.#isHealthy())) {
      if (!this.isRunning() || performance.now() > deadline) {
        throw new Error(`${name} did not start: ${this.#process.errorLines()}`);
      }
      await sleep(300);
    }
  }

  admin(method: string, path: string, body?: unknown): Promise<Response> {
    const json = body === undefined ? {} : { body: JSON.stringify(body) };
    const headers = { 'content-type': 'application/json' };
    return fetch(`${this.webUrl}/admin/v2/${path}`, { method, headers, ...json });
  }

  /** Lines of its page of metrics that begin so: what stands before the value → value. */
  async metrics(prefix: string): Promise<Map<string, number>> {
    const page = await (await fetch(`${this.webUrl}/metrics/`)).text();
    const lines = page.split('\n').filter((line) => line.startsWith(prefix));
    return new Map(
      lines.map((line) => {
        const at = line.lastIndexOf(' ');
        return [line.slice(0, at), Number(line.slice(at + 1).replace('Inf', 'Infinity'))];
      }),
    );
  }

  /** The end of what it has said. */
  lastWords(): string {
    return this.#process?.errorLines() ?? '';
  }

  isRunning(): boolean {
    return this.#process?.isRunning() ?? false;
  }

  async kill(): Promise<void> {
    this.#process?.signal('SIGKILL');
    await this.#process?.ended;
  }

  async stop(): Promise<void> {
    if (this.#process !== undefined) await ended(this.#process);
  }

  async #isHealthy(): Promise<boolean> {
    try {
      return (await fetch(`${this.webUrl}/admin/v2/brokers/health`)).ok;
    } catch {
      return false;
    }
  }
}

function zooKeeperConf(folder: string, port: number) {
  return {
    dataDir: join(folder, 'zookeeper'),
    clientPort: port,
    clientPortAddress: '127.0.0.1',
    'admin.enableServer': false,
    tickTime: 2000,
  };
}

function metadataArguments(zooKeeper: number, brokers: readonly PulsarBroker[]): string[] {
  const store = `zk:127.0.0.1:${zooKeeper}`;
  const hosts = (urls: string[]) => urls.map((url, at) => (at === 0 ? url : url.replace(/^\w+:\/\//, ''))).join(',');
  return [
    'org.apache.pulsar.PulsarClusterMetadataSetup',
    '--cluster=c1',
    `--metadata-store=${store}`,
    `--configuration-metadata-store=${store}`,
    `--web-service-url=${hosts(brokers.map(({ webUrl }) => webUrl))}`,
    `--broker-service-url=${hosts(brokers.map(({ serviceUrl }) => serviceUrl))}`,
  ];
}

function bookieConf(folder: string, port: number, zooKeeper: number) {
  return {
    ...SMALL_BOOKIE,
    bookiePort: port,
    advertisedAddress: '127.0.0.1',
    allowLoopback: true,
    metadataServiceUri: `zk+hierarchical://127.0.0.1:${zooKeeper}/ledgers`,
    journalDirectory: join(folder, 'bookie/journal'),
    ledgerDirectories: join(folder, 'bookie/ledgers'),
    indexDirectories: join(folder, 'bookie/ledgers'),
    ledgerStorageClass: 'org.apache.bookkeeper.bookie.storage.ldb.DbLedgerStorage',
    httpServerEnabled: false,
  };
}

function linesOf(conf: Readonly<Record<string, string | number | boolean>>): string {
  return Object.entries(conf)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('');
}

function java(classPath: string, heap: readonly string[], args: readonly string[]): Promise<GuardedProcess> {
  const log = `-Dlog4j.configurationFile=${join(import.meta.dirname, 'log4j2.xml')}`;
  return startGuarded('java', [...heap, ...JAVA_FLAGS, log, '-cp', classPath, ...args]);
}

async function ended(process: GuardedProcess): Promise<void> {
  process.signal('SIGTERM');
  await Promise.race([process.ended, sleep(STOP_MS)]);
  process.signal('SIGKILL');
  await process.ended;
}

async function untilOpen(port: number): Promise<void> {
  const deadline = performance.now() + START_MS;
  while (!(await isOpen(port))) {
    if (performance.now() > deadline) throw new Error(`nobody listens on port ${port}`);
    await sleep(100);
  }
}

function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    const end = (isOpen: boolean) => () => {
      socket.destroy();
      resolve(isOpen);
    };
    socket.once('connect', end(true));
    socket.once('error', end(false));
  });
}

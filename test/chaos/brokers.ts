import { setTimeout as sleep } from 'node:timers/promises';
import type { Admin } from 'kafkajs';
import { CREATED_WITH } from '../../src/topic/kafka/topic-settings.js';
import { withAdmin } from '../kafka/admin.js';
import { type Kafka, startKafka } from '../kafka/kafka.js';
import { type BrokerDisks, mountDisks } from './disks.js';
import { LinkProxy, type LinkState } from './link-proxy.js';
import { BROKERS, NODES } from './schedule.js';

export const TOPIC = 'quotamesh-chaos';
/** The partitions with which the report topic is founded. */
export const PARTITIONS = 4;
/** How many ports the brokers and the proxies before them take. */
export const BROKER_PORTS = BROKERS * (3 + 2 * NODES);

/** How long to wait while the controllers elect, or do not know a broker yet. */
const ADMIN_PATIENCE_MS = 60_000;
const ADMIN_PAUSE_MS = 500;

/**
 * Three brokers, replication 3, min.insync.replicas 2. Every node has a listener of its own at every broker, whose advertised address is a
 * proxy: so the metadata of a broker leads each node through its own link, and single nodes can be cut off from single brokers.
 */
export class Brokers {
  readonly kafka: Kafka;
  readonly disks: BrokerDisks;
  /** By node, then by broker. */
  readonly #links: readonly (readonly LinkProxy[])[];
  readonly #linkPorts: readonly (readonly number[])[];

  private constructor(kafka: Kafka, disks: BrokerDisks, links: LinkProxy[][], linkPorts: number[][]) {
    this.kafka = kafka;
    this.disks = disks;
    this.#links = links;
    this.#linkPorts = linkPorts;
  }

  /** @param ports BROKER_PORTS of them, below those that the system gives to outgoing connections */
  static async start(folder: string, ports: readonly number[]): Promise<Brokers> {
    const take = ports.values();
    const next = () => take.next().value as number;
    const own = times(BROKERS, () => ({ client: next(), controller: next(), spare: next() }));
    const targets = times(NODES, () => times(BROKERS, next));
    const linkPorts = times(NODES, () => times(BROKERS, next));
    const disks = await mountDisks(folder, BROKERS);
    const kafka = await startKafka({
      nodes: BROKERS,
      ports: own,
      properties: ({ client, controller }, broker) => {
        const of = (table: readonly (readonly number[])[]) =>
          table.map((row, node) => `N${node}://127.0.0.1:${row[broker]}`);
        const names = times(NODES, (node) => `N${node}:PLAINTEXT`);
        const main = `PLAINTEXT://127.0.0.1:${client}`;
        return {
          listeners: [main, `CONTROLLER://127.0.0.1:${controller}`, ...of(targets)].join(','),
          'advertised.listeners': [main, ...of(linkPorts)].join(','),
          'listener.security.protocol.map': ['PLAINTEXT:PLAINTEXT', 'CONTROLLER:PLAINTEXT', ...names].join(','),
          'num.network.threads': '1',
          'min.insync.replicas': '2',
          'log.dirs': `${disks.folders[broker]}/log`,
          // Leaders go where `leader-moved` has put them first among the replicas.
          'leader.imbalance.check.interval.seconds': '1',
          'leader.imbalance.per.broker.percentage': '0',
        };
      },
    }).catch(async (error: unknown) => {
      await disks.remove();
      throw error;
    });
    const links = await Promise.all(
      linkPorts.map((row, node) =>
        Promise.all(row.map((port, broker) => LinkProxy.listen(port, targets[node]?.[broker]))),
      ),
    );
    return new Brokers(kafka, disks, links, linkPorts);
  }

  /** What `topic.brokers` of a node wants: its own ways. */
  addressesFor(node: number): string[] {
    return (this.#linkPorts[node] ?? []).map((port) => `127.0.0.1:${port}`);
  }

  /** @param broker all of them where it is null */
  setLink(node: number, broker: number | null, state: LinkState): void {
    for (const [index, link] of (this.#links[node] ?? []).entries()) {
      if (broker === null || broker === index) link.set(state);
    }
  }

  /** Connections that the present state of these ways has met. @param broker all of them where it is null */
  connectionsMet(node: number, broker: number | null): number {
    const links = (this.#links[node] ?? []).filter((_, index) => broker === null || broker === index);
    return links.reduce((sum, { met }) => sum + met, 0);
  }

  async deleteTopic(): Promise<void> {
    await this.#persist('delete the topic', async (admin) => {
      const topics = await admin.listTopics();
      if (topics.includes(TOPIC)) await admin.deleteTopics({ topics: [TOPIC], timeout: 5000 });
    });
  }

  async createTopic(): Promise<void> {
    const configEntries = Object.entries(CREATED_WITH).map(([name, value]) => ({ name, value }));
    const topic = { topic: TOPIC, numPartitions: PARTITIONS, replicationFactor: BROKERS, configEntries };
    await this.#persist('make the topic', async (admin) => {
      if ((await admin.listTopics()).includes(TOPIC)) return;
      await admin.createTopics({ topics: [topic], waitForLeaders: false, timeout: 5000 });
    });
  }

  /** Returns how many there are then. */
  addPartitions(more: number): Promise<number> {
    return this.#persist('add partitions', async (admin) => {
      const count = (await partitionsOf(admin)).length + more;
      await admin.createPartitions({ topicPartitions: [{ topic: TOPIC, count }], timeout: 5000 });
      return count;
    });
  }

  /**
   * For every partition another broker, the next or the one after it, comes first among the replicas; the controller makes it lead within a
   * second or two. They stay spread, or later faults of single brokers and links would hit nothing. Returns who leads, by partition.
   */
  moveLeaders(turn: number): Promise<number[]> {
    return this.#persist('move the leaders', async (admin) => {
      const step = 1 + (turn % (BROKERS - 1));
      const wanted = (await partitionsOf(admin)).map(({ partitionId, leader }) => {
        return { partition: partitionId, broker: (leader - 1 + step) % BROKERS };
      });
      const partitionAssignment = wanted.map(({ partition, broker }) => {
        return { partition, replicas: times(BROKERS, (index) => ((broker + index) % BROKERS) + 1) };
      });
      await admin.alterPartitionReassignments({ topics: [{ topic: TOPIC, partitionAssignment }], timeout: 5000 });
      const deadlineMs = performance.now() + ADMIN_PATIENCE_MS;
      const newLeader = new Map(wanted.map(({ partition, broker }) => [partition, broker + 1]));
      while ((await partitionsOf(admin)).some(({ partitionId, leader }) => leader !== newLeader.get(partitionId))) {
        if (performance.now() > deadlineMs) throw new Error('not every partition is led by another broker');
        await sleep(100);
      }
      return [...newLeader].sort(([one], [other]) => one - other).map(([, leader]) => leader);
    });
  }

  async stop(): Promise<void> {
    for (const link of this.#links.flat()) link.close();
    await this.kafka.stop();
    await this.disks.remove();
  }

  /** Our own tools are not what is tested: they try again while the cluster recovers, and say what was wrong in the end. */
  async #persist<Result>(what: string, action: (admin: Admin) => Promise<Result>): Promise<Result> {
    const givenUpAt = performance.now() + ADMIN_PATIENCE_MS;
    for (;;) {
      try {
        return await withAdmin(this.kafka.brokers, action);
      } catch (error) {
        if (performance.now() > givenUpAt) throw new Error(`could not ${what}: ${(error as Error).message}`);
        await sleep(ADMIN_PAUSE_MS);
      }
    }
  }
}

async function partitionsOf(admin: Admin) {
  const { topics } = await admin.fetchTopicMetadata({ topics: [TOPIC] });
  return topics[0]?.partitions ?? [];
}

function times<Made>(count: number, make: (index: number) => Made): Made[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

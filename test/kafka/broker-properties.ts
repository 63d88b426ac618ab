export interface NodePorts {
  readonly client: number;
  readonly controller: number;
  /** For a listener that a test adds. */
  readonly spare: number;
}

/** server.properties of one combined node (broker and controller) of a KRaft cluster on loopback. */
export function brokerProperties(
  nodeId: number,
  ports: readonly NodePorts[],
  logFolder: string,
): Readonly<Record<string, string>> {
  const own = ports[nodeId - 1];
  const copies = String(Math.min(3, ports.length));
  return {
    'process.roles': 'broker,controller',
    'node.id': String(nodeId),
    'controller.quorum.voters': ports.map(({ controller }, i) => `${i + 1}@127.0.0.1:${controller}`).join(','),
    listeners: `PLAINTEXT://127.0.0.1:${own.client},CONTROLLER://127.0.0.1:${own.controller}`,
    'advertised.listeners': `PLAINTEXT://127.0.0.1:${own.client}`,
    'listener.security.protocol.map': 'PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT',
    'controller.listener.names': 'CONTROLLER',
    'inter.broker.listener.name': 'PLAINTEXT',
    'log.dirs': logFolder,
    'auto.create.topics.enable': 'false',
    'default.replication.factor': copies,
    'offsets.topic.replication.factor': copies,
    'offsets.topic.num.partitions': '1',
    'transaction.state.log.replication.factor': copies,
    'transaction.state.log.num.partitions': '1',
    'transaction.state.log.min.isr': '1',
    'share.coordinator.state.topic.replication.factor': copies,
    'share.coordinator.state.topic.min.isr': '1',
    // A killed broker is let in again only when its former session has run out: 9 s by default, too long to wait for.
    'broker.session.timeout.ms': '3000',
    'broker.heartbeat.interval.ms': '500',
    // Small and few: three of them share two cores with the tests.
    'num.network.threads': '2',
    'num.io.threads': '2',
    'background.threads': '2',
    // Compaction soon, with a small part of the heap (its default is 128 MiB).
    'log.cleaner.backoff.ms': '100',
    'log.cleaner.dedupe.buffer.size': '2097152',
  };
}

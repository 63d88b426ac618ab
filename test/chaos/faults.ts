import type { Brokers } from './brokers.js';
import type { Clients } from './clients.js';
import type { FaultKind } from './fault-table.js';
import { OPEN } from './link-proxy.js';
import type { NodeProcesses } from './node-processes.js';
import { BROKERS, NODES, type PlannedFault } from './schedule.js';

/** What faults are done to. */
export interface Stage {
  readonly brokers: Brokers;
  readonly nodes: NodeProcesses;
  readonly clients: Clients;
  say(line: string): void;
  /** A promise was broken that no window and no share shows. */
  broke(what: string): void;
}

/** `begin` resolves when it is done; `remedy` when what was broken works again, as far as anybody but the nodes can tell. */
interface Action {
  begin(stage: Stage, fault: PlannedFault): Promise<void> | void;
  remedy(stage: Stage, fault: PlannedFault): Promise<void> | void;
}

/** It is not ready before the topic is, which may be broken at the same time, on a machine that does much else. */
const READY_MS = 120_000;
const MORE_PARTITIONS = 2;

const nodeOf = ({ node }: PlannedFault) => node as number;
const brokerOf = ({ broker }: PlannedFault) => broker as number;
const kafkaNode = ({ brokers }: Stage, place: number) => {
  const node = brokers.kafka.nodes[place % BROKERS];
  if (node === undefined) throw new Error(`no broker ${place}`);
  return node;
};

/** One that does not get ready is no reason to stop: the judge says that the cluster is not one again. */
async function startNode({ nodes, say }: Stage, node: number): Promise<void> {
  await nodes.start(node);
  if (await nodes.untilReady(node, READY_MS)) return;
  const state = nodes.isRunning(node) ? `not ready ${READY_MS / 1000} s after its start` : 'it has ended';
  say(`${state}: ${nodes.logEnd(node, 1)}`);
}

const linkFault = (kind: 'reset' | 'drop' | 'half-open'): Action => ({
  begin: ({ brokers }, fault) => brokers.setLink(nodeOf(fault), null, { kind }),
  remedy: ({ brokers }, fault) => brokers.setLink(nodeOf(fault), null, OPEN),
});

const nothing = () => undefined;

export const ACTIONS: Readonly<Record<FaultKind, Action>> = {
  'node-kill': {
    begin: ({ nodes }, fault) => nodes.kill(nodeOf(fault)),
    remedy: (stage, fault) => startNode(stage, nodeOf(fault)),
  },
  'node-restart': {
    begin: async ({ nodes, say }, fault) => {
      if (!(await nodes.leave(nodeOf(fault)))) say('it did not leave within 10 s of SIGTERM, and was killed');
    },
    remedy: (stage, fault) => startNode(stage, nodeOf(fault)),
  },
  'node-freeze': {
    begin: ({ nodes }, fault) => nodes.signal(nodeOf(fault), 'SIGSTOP'),
    remedy: ({ nodes }, fault) => nodes.signal(nodeOf(fault), 'SIGCONT'),
  },
  'node-twice': {
    begin: async ({ nodes, clients }, fault) => {
      await nodes.start(NODES + nodeOf(fault));
      clients.askSecond(nodeOf(fault), true);
    },
    remedy: async (stage, fault) => {
      const { nodes, clients, say } = stage;
      const older = nodes.isRunning(nodeOf(fault)) ? 'still runs' : 'has stopped';
      say(`the older process ${older}`);
      clients.askSecond(nodeOf(fault), false);
      await nodes.leave(NODES + nodeOf(fault));
      await startNode(stage, nodeOf(fault));
    },
  },
  'link-reset': linkFault('reset'),
  'link-drop': linkFault('drop'),
  'link-half-open': linkFault('half-open'),
  'link-delay': {
    begin: ({ brokers }, fault) => {
      brokers.setLink(nodeOf(fault), null, { kind: 'delay', delayMs: fault.delayMs as number });
    },
    remedy: ({ brokers }, fault) => brokers.setLink(nodeOf(fault), null, OPEN),
  },
  'link-one-broker': {
    begin: ({ brokers }, fault) => brokers.setLink(nodeOf(fault), brokerOf(fault), { kind: 'reset' }),
    remedy: ({ brokers }, fault) => brokers.setLink(nodeOf(fault), brokerOf(fault), OPEN),
  },
  'broker-kill': {
    begin: (stage, fault) => kafkaNode(stage, brokerOf(fault)).kill(),
    remedy: (stage, fault) => kafkaNode(stage, brokerOf(fault)).start(),
  },
  'broker-freeze': {
    begin: (stage, fault) => kafkaNode(stage, brokerOf(fault)).freeze(),
    remedy: async (stage, fault) => {
      await kafkaNode(stage, brokerOf(fault)).thaw();
      await stage.brokers.kafka.untilReady();
    },
  },
  'broker-disk-full': {
    begin: ({ brokers }, fault) => brokers.disks.fill(brokerOf(fault)),
    remedy: async (stage, fault) => {
      const { brokers, say } = stage;
      const broker = kafkaNode(stage, brokerOf(fault));
      await brokers.disks.empty(brokerOf(fault));
      say(`the broker ${broker.isRunning() ? 'went on' : 'had stopped'}`);
      // One that went on may have put its folder off-line: a person would restart it, too.
      await broker.kill();
      await broker.start();
    },
  },
  'brokers-two-killed': {
    begin: async (stage, fault) => {
      await Promise.all([0, 1].map((more) => kafkaNode(stage, brokerOf(fault) + more).kill()));
    },
    remedy: async (stage, fault) => {
      await Promise.all([0, 1].map((more) => kafkaNode(stage, brokerOf(fault) + more).start()));
    },
  },
  'brokers-all-frozen': {
    begin: async ({ brokers }) => {
      await Promise.all(brokers.kafka.nodes.map((broker) => broker.freeze()));
    },
    remedy: async ({ brokers }) => {
      await Promise.all(brokers.kafka.nodes.map((broker) => broker.thaw()));
      await brokers.kafka.untilReady();
    },
  },
  'leader-moved': {
    begin: async ({ brokers, say }, fault) => {
      say(`to broker ${(await brokers.moveLeaders(brokerOf(fault))) + 1}`);
    },
    remedy: nothing,
  },
  'topic-anew': {
    begin: ({ brokers }) => brokers.deleteTopic(),
    remedy: ({ brokers }) => brokers.createTopic(),
  },
  'partitions-added': {
    begin: async ({ brokers, nodes, say }, fault) => {
      say(`now ${await brokers.addPartitions(MORE_PARTITIONS)} partitions`);
      await nodes.kill(nodeOf(fault));
      await nodes.start(nodeOf(fault));
    },
    remedy: async (stage, fault) => {
      const { brokers, nodes, say, broke } = stage;
      const node = nodeOf(fault);
      const isNamed = nodes.logEnd(node, 12).includes('PARTITIONS_DIFFER');
      if (nodes.isRunning(node) || !isNamed)
        broke('a node that counts more partitions than the others was not turned away');
      else say('the node that started was turned away by name');
      await brokers.deleteTopic();
      await brokers.createTopic();
      await nodes.kill(node);
      await startNode(stage, node);
    },
  },
};

/** For the end of a run that is broken off in the middle: what stands still cannot be told to end. */
export async function thawEverything(brokers: Brokers, nodes: NodeProcesses): Promise<void> {
  for (let slot = 0; slot < 2 * NODES; slot++) nodes.signal(slot, 'SIGCONT');
  await Promise.all(brokers.kafka.nodes.map((broker) => broker.thaw()));
}

import { setTimeout as sleep } from 'node:timers/promises';
import type { Brokers } from './brokers.js';
import type { Clients } from './clients.js';
import type { FaultKind } from './fault-table.js';
import { type LinkState, OPEN } from './link-proxy.js';
import type { NodeProcesses } from './node-processes.js';
import { BROKERS, NODES, type PlannedFault } from './schedule.js';

/** The parts of a run to which faults are done. */
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

/** How long a node may take to get ready: the topic may be broken at the same time, on a machine that does much else. */
const READY_MS = 120_000;
/** How long the older of two processes may take to read the newer one's record: all brokers may be frozen for 14 s. */
const FENCED_MS = 20_000;
/** How long a broker may take to meet its full disk: it writes little. */
const DISK_NOTICED_MS = 30_000;
const MORE_PARTITIONS = 2;

const nodeOf = ({ node }: PlannedFault) => node as number;
const whose = (fault: PlannedFault) => `n${nodeOf(fault) + 1}`;
const brokerOf = ({ broker }: PlannedFault) => broker as number;
const kafkaNode = ({ brokers }: Stage, index: number) => {
  const node = brokers.kafka.nodes[index % BROKERS];
  if (node === undefined) throw new Error(`no broker ${index}`);
  return node;
};

async function leave({ nodes, say }: Stage, node: number): Promise<void> {
  if (!(await nodes.leave(node))) say('it did not leave within 10 s of SIGTERM, and was killed');
}

/** A node that does not get ready does not end the run: the judge will say that the cluster is not one again. */
async function startNode({ nodes, say }: Stage, node: number): Promise<void> {
  await nodes.start(node);
  if (await nodes.untilReady(node, READY_MS)) return;
  const state = nodes.isRunning(node) ? `not ready ${READY_MS / 1000} s after its start` : 'it has ended';
  say(`${state}: ${nodes.logEnd(node, 1)}`);
}

/** The ways of one node to one broker, or to all of them. */
const linkFault = (stateOf: (fault: PlannedFault) => LinkState): Action => ({
  begin: ({ brokers }, fault) => brokers.setLink(nodeOf(fault), fault.broker, stateOf(fault)),
  remedy: ({ brokers, say }, fault) => {
    say(`it met ${brokers.connectionsMet(nodeOf(fault), fault.broker)} connections`);
    brokers.setLink(nodeOf(fault), fault.broker, OPEN);
  },
});

const nothing = () => undefined;

export const ACTIONS: Readonly<Record<FaultKind, Action>> = {
  'node-kill': {
    begin: ({ nodes }, fault) => nodes.kill(nodeOf(fault)),
    remedy: (stage, fault) => startNode(stage, nodeOf(fault)),
  },
  'node-restart': {
    begin: (stage, fault) => leave(stage, nodeOf(fault)),
    remedy: (stage, fault) => startNode(stage, nodeOf(fault)),
  },
  'rolling-deploy': {
    begin: async (stage) => {
      for (let node = 0; node < NODES; node++) {
        await leave(stage, node);
        await startNode(stage, node);
      }
    },
    remedy: nothing,
  },
  'node-freeze': {
    begin: ({ nodes }, fault) => nodes.signal(nodeOf(fault), 'SIGSTOP'),
    remedy: ({ nodes }, fault) => nodes.signal(nodeOf(fault), 'SIGCONT'),
  },
  'node-twice': {
    // The fault lasts from the time at which both could decide: a process that still starts disturbs nobody.
    begin: async ({ nodes, clients, say }, fault) => {
      clients.askSecond(nodeOf(fault), true);
      await nodes.start(NODES + nodeOf(fault));
      if (!(await nodes.untilReady(NODES + nodeOf(fault), READY_MS))) say('the second process did not get ready');
    },
    remedy: async (stage, fault) => {
      const { nodes, clients, say, broke } = stage;
      const [older, second] = [nodeOf(fault), NODES + nodeOf(fault)];
      const isFenced = (await nodes.untilEnded(older, FENCED_MS)) && nodes.logEnd(older, 12).includes('NODE_FENCED');
      if (isFenced) say('the older process has stopped by name');
      else broke(`${whose(fault)}: two processes of one id, and the older one did not stop by name`);
      if (!nodes.isRunning(second)) broke(`${whose(fault)}: the newer process has stopped: ${nodes.logEnd(second, 1)}`);
      clients.askSecond(nodeOf(fault), false);
      await nodes.leave(NODES + nodeOf(fault));
      await startNode(stage, nodeOf(fault));
    },
  },
  'link-reset': linkFault(() => ({ kind: 'reset' })),
  'link-drop': linkFault(() => ({ kind: 'drop' })),
  'link-half-open': linkFault(() => ({ kind: 'half-open' })),
  'link-delay': linkFault(({ delayMs }) => ({ kind: 'delay', delayMs: delayMs as number })),
  'link-one-broker': linkFault(() => ({ kind: 'reset' })),
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
      const { brokers, say, broke } = stage;
      const broker = kafkaNode(stage, brokerOf(fault));
      const deadlineMs = performance.now() + DISK_NOTICED_MS;
      // Kafka removes the files of a deleted topic a minute later, and what it frees would let the broker go on.
      while (broker.isRunning() && performance.now() < deadlineMs) {
        brokers.disks.fill(brokerOf(fault));
        await sleep(100);
      }
      // A broker with one folder ends itself when it cannot write there.
      if (broker.isRunning())
        broke(`the disk of broker ${brokerOf(fault) + 1} was full, and the broker went on: this proves nothing`);
      else say('the broker had stopped');
      await brokers.disks.empty(brokerOf(fault));
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
      say(`partitions 0, 1, … to brokers ${(await brokers.moveLeaders(brokerOf(fault))).join(', ')}`);
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

/** Wakes all processes at the end of a run that is broken off: a frozen one could not be ended. */
export async function thawEverything(brokers: Brokers, nodes: NodeProcesses): Promise<void> {
  for (let slot = 0; slot < 2 * NODES; slot++) nodes.signal(slot, 'SIGCONT');
  await Promise.all(brokers.kafka.nodes.map((broker) => broker.thaw()));
}

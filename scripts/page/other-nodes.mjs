/**
 * `node other-nodes.mjs TOPIC-FOLDER NODES GROUPS`: writes into an embedded topic what so many nodes write that all use
 * each of so many groups. First all reports; then, told to the parent as `written`, a sign of life of each node every second,
 * each report again within five minutes (`timing.forcedReportMs`), and each minute 1 % of the groups of each node
 * because their demand has changed.
 */

import { epochTagOf, groupIdOf, incarnationOf, nodeKeyOf } from '../../dist/src/core/base/ids.js';
import { nodeRecordKey, reportRecordKey } from '../../dist/src/core/base/protocol/record.js';
import { RecordCodec } from '../../dist/src/topic/codec/record-codec.js';
import { EmbeddedTopic } from '../../dist/src/topic/embedded/embedded-topic.js';
import { groupName } from './large-cluster.mjs';

const CLUSTER = 'large';
const QUOTA = 1000;
/** `timing.groupsPerRecord`. */
const GROUPS_PER_RECORD = 6;
const FORCED_REPORT_SECONDS = 300;
const CHANGES_PER_SECOND = 0.01 / 60;
const APPEND_AT_ONCE = 500;

const [path, nodeCount, groupCount] = [process.argv[2], ...process.argv.slice(3).map(Number)];
const codec = new RecordCodec(CLUSTER);
const groupIds = Array.from({ length: groupCount }, (_, at) => groupIdOf(CLUSTER, groupName(at)));
/** What all nodes want of a group: from a tenth of the quota to twice of it. */
const wanted = Float32Array.from(groupIds, (_, at) => QUOTA * (0.1 + (1.9 * ((at * 7919) % groupCount)) / groupCount));
const bundles = Math.ceil(groupCount / GROUPS_PER_RECORD);
const nodes = Array.from({ length: nodeCount }, (_, at) => {
  const nodeId = `node-${at + 1}`;
  return { nodeId, nodeKey: nodeKeyOf(CLUSTER, nodeId), sequence: 0 };
});
const topic = new EmbeddedTopic({ path, appendTimeoutMs: 60_000 });
let epoch;
let waiting = [];

function authorOf(node) {
  return { nodeKey: node.nodeKey, incarnation: incarnationOf(1, 1), sequence: ++node.sequence };
}

async function write(key, record) {
  waiting.push({ partition: 0, key, value: codec.encode(record) });
  if (waiting.length >= APPEND_AT_ONCE) await flush();
}

async function flush() {
  const records = waiting;
  waiting = [];
  await topic.append(records);
}

function sayAlive(node) {
  const { nodeId, nodeKey } = node;
  const told = { version: '0.1.0', epoch, partitions: 1 };
  return write(nodeRecordKey(nodeKey), { kind: 'node', author: authorOf(node), nodeId, ...told });
}

/** Demand differs by half from node to node, and from one report to the next by a tenth. */
function report(node, bundle) {
  const groups = Array.from({ length: GROUPS_PER_RECORD }, (_, at) => bundle * GROUPS_PER_RECORD + at);
  const rows = groups
    .filter((group) => group < groupCount)
    .map((group) => {
      const demand =
        (wanted[group] / nodeCount) * (0.75 + ((group + node.nodeKey) % 50) / 100) * (0.95 + Math.random() / 10);
      const usage = demand * Math.min(1, QUOTA / wanted[group]);
      const messages = { usageMessages: usage, demandMessages: demand, shareMessages: QUOTA / nodeCount };
      const bytes = { usageBytes: 0, demandBytes: 0, shareBytes: 0 };
      return { groupId: groupIds[group], direction: 0, topics: 1, ...messages, ...bytes, charge: [0, 0] };
    });
  return write(reportRecordKey(node.nodeKey, bundle), { kind: 'report', author: authorOf(node), rows });
}

async function goOn() {
  const reports = nodeCount * (bundles / FORCED_REPORT_SECONDS + groupCount * CHANGES_PER_SECOND);
  for (const node of nodes) await sayAlive(node);
  for (let at = 0; at < reports; at++) {
    await report(nodes[Math.floor(Math.random() * nodeCount)], Math.floor(Math.random() * bundles));
  }
  await flush();
}

await topic.open({
  onEpoch: (told) => {
    epoch = epochTagOf(told);
  },
  onRecords: () => undefined,
  onCaughtUp: () => undefined,
  onLost: () => undefined,
  onRecovered: () => undefined,
  onFailed: (error) => {
    throw error;
  },
});
for (const node of nodes) {
  await sayAlive(node);
  for (let bundle = 0; bundle < bundles; bundle++) await report(node, bundle);
}
await flush();
setInterval(() => void goOn(), 1000);
process.on('disconnect', () => process.exit());
process.send('written');

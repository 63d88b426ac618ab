/**
 * A whole node without its HTTP server, that changes groups of its own as fast as the log decides, several at once.
 *
 *     argv: JSON { path, node, life, groups, auditedChanges }; starts at the IPC message "go", ends when it is killed
 *
 * Writes to standard output, synchronously, so that nothing is lost with the process when it is killed:
 * `? <group> <n>` before change n of a group is asked for, `! <group> <n>` when it was answered.
 * What change n makes of a group: test/integration/registry-kill-rounds.ts, `definitionOf`. Between the first change behind
 * a deletion and the next one two scopes are attached to it; the deletion takes them with it.
 */
import { writeSync } from 'node:fs';
import { silentTelemetry } from '../../../dist/src/base/ports/telemetry.js';
import { configOf } from '../../../dist/src/doors/library/start-with-options.js';
import { attach } from '../../../dist/src/node/groups/changes/attaching.js';
import { deleteGroup, putGroup } from '../../../dist/src/node/groups/changes/change-group.js';
import { assembleNode, startParts } from '../../../dist/src/node/loop/start-node.js';

const DELETED_EVERY = 5;
const BY = { name: 'writer', how: 'open', requestId: 'kill', atMs: 0, tenants: null };
const { path, node: nodeId, life, groups, auditedChanges } = JSON.parse(process.argv[2]);
const topic = { kind: 'embedded', path };
const config = { cluster: 'kills', node: nodeId, topic, groups: { orders: {} } };
/** Not through createNode: changes to groups come over HTTP, and are no calls of the library. */
const parts = await assembleNode(
  await configOf({ config, env: {} }, { registry: { auditedChanges } }),
  silentTelemetry,
);
await startParts(parts);
const go = new Promise((resolve) => process.once('message', resolve));
process.send('ready');
await go;
await Promise.all(Array.from({ length: groups }, (_, at) => write(`life-${life}-${at}`)));

async function write(group) {
  let revision = 0;
  for (let n = 1; ; n++) {
    writeSync(1, `? ${group} ${n}\n`);
    // Half of them say what they expect.
    const expected = n % 2 === 0 ? revision : null;
    if (n % DELETED_EVERY === 0) {
      await deleteGroup(parts, group, expected, BY, true);
      revision = 0;
    } else {
      ({ revision } = await putGroup(parts, group, { expectedCost: n, debtMs: n }, expected, BY));
    }
    writeSync(1, `! ${group} ${n}\n`);
    if (n % DELETED_EVERY !== 1) continue;
    await attach(parts, group, { group }, null, BY);
    await attach(parts, `${group}/same`, { sameAs: group }, null, BY);
  }
}

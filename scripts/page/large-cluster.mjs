import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const GROUPS = 10_000;
export const NODES = 100;

/**
 * A node of a cluster of 100 nodes that all use each of 10,000 groups. The other 99 are one process that writes into the
 * topic what they would write; the node itself cannot tell. Returns the node.
 */
export async function startLargeCluster(processes) {
  const file = join(processes.folder, 'node.yaml');
  const topic = join(processes.folder, 'topic');
  const quota = '{ quota: { publish: { messagesPerSecond: 1000 } } }';
  const groups = Array.from({ length: GROUPS }, (_, at) => `  ${groupName(at)}: ${quota}\n`).join('');
  writeFileSync(file, `cluster: large\ntopic: { kind: embedded, path: ${topic} }\ngroups:\n${groups}`);
  const script = fileURLToPath(new URL('other-nodes.mjs', import.meta.url));
  const others = processes.start([script, topic, String(NODES - 1), String(GROUPS)]);
  await new Promise((resolve, reject) => {
    others.once('message', resolve);
    others.once('exit', (code) => reject(new Error(`the other nodes ended with exit code ${code}`)));
  });
  return await processes.node('a', file);
}

export function groupName(at) {
  return `group-${at}`;
}

import { NODE, type NodeSettings, SETTINGS } from '../schema/all-settings.js';
import { readSection } from '../schema/read-section.js';
import type { Findings } from '../setting/findings.js';
import { NODE_NAME } from '../setting/setting.js';
import type { Sound } from '../setting/text-file.js';

/** Fields with a mistake are absent. */
export type SoundNode = Sound<NodeSettings>;

/** Everything of a node but its topic and groups. */
export function readNode(root: unknown, findings: Findings, hostName: string): SoundNode {
  const read = readSection(findings, NODE, [], root);
  if (read.cluster === null) {
    const { allowed, remedy } = { allowed: NODE_NAME.text, remedy: SETTINGS.node.rows.cluster.remedy };
    findings.add(['cluster'], { problem: 'is missing', allowed, remedy });
  }
  return { ...read, node: read.node === null ? defaultNodeId(hostName, read.http) : read.node };
}

/**
 * Derives an id that is stable over restarts and unique per machine. Ports and sockets are. The process id would be
 * neither: each restart would leave records of a dead node behind.
 */
function defaultNodeId(hostName: string, { port, socket }: SoundNode['http']): string {
  const end = typeof socket === 'string' ? nameable(socket) : String(port);
  return `${nameable(hostName).slice(0, ID_LENGTH_MAX - end.length - 1) || 'node'}-${end}`;
}

const ID_LENGTH_MAX = 128;

function nameable(text: string): string {
  return text.replaceAll(/[^A-Za-z0-9._:-]/g, '-').replace(/^[^A-Za-z0-9]+/, '');
}

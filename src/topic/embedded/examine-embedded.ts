import { statfs } from 'node:fs/promises';
import { QuotameshError } from '../../base/errors/quotamesh-error.js';
import type { ExaminedTopic, Finding, Visit } from '../../config/setting/topic-kind.js';
import { looked, noted, wrong } from '../findings/finding.js';
import { folderFinding, nearestThere } from '../findings/folder-finding.js';
import { loadLmdb } from './load-lmdb.js';
import { openToOthers } from './private-folder.js';
import { hasReports } from './topic-folder.js';

/** Examines the folder, which the first node makes. */
export async function examineEmbedded(
  { path }: { readonly path: string },
  { timeoutMs }: Visit,
): Promise<ExaminedTopic> {
  const findings = await looked('topic', timeoutMs, () => pathFinding(path));
  const isSound = findings.every(({ state }) => state !== 'wrong');
  return { findings, isAnswered: true, hasReports: isSound && (await hasReports(path)) };
}

async function pathFinding(path: string): Promise<Finding> {
  await loadLmdb();
  const folder = await folderFinding('topic', path);
  if (folder.state !== 'good') return folder;
  const mistake = await networkMistake(path);
  if (mistake !== null) return wrong('topic', mistake);
  const open = await openToOthers(path);
  return open === null ? folder : noted('topic', `${folder.says}; ${open}`);
}

/** Linux numbers of NFS, SMB (two) and Ceph, where LMDB's locks fail. */
const NETWORK = new Set([0x6969, 0xff534d42, 0xfe534d42, 0x00c36400]);

/** Describes a network folder, whose processes cannot share a map; null = none. */
async function networkMistake(path: string): Promise<QuotameshError | null> {
  const { type } = await statfs(await nearestThere(path));
  if (!NETWORK.has(type)) return null;
  const reason = 'it lies on a network file system, where locks of processes do not hold; use a local disk';
  return new QuotameshError('TOPIC_SETTINGS', { topic: path, reason });
}

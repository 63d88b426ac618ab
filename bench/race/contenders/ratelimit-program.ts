import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** The project makes no releases: a commit of January 2026. */
export const VERSION = 'v1.4.1-0.20260122083618-3fb702589d36';

const MODULE = 'github.com/envoyproxy/ratelimit/src/service_cmd';
/** Two minutes on a machine with other work. */
const BUILD_TIMEOUT_MS = 600_000;

/** Built by Go into the cache of the user, once. Without Go, or without its registry, this rejects and says so. */
export async function ratelimitProgram(): Promise<string> {
  const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'quotamesh', `ratelimit-${VERSION}`);
  const program = join(cache, 'service_cmd');
  if (existsSync(program)) return program;
  await mkdir(cache, { recursive: true });
  const env = { ...process.env, GOBIN: cache };
  await promisify(execFile)('go', ['install', `${MODULE}@${VERSION}`], { env, timeout: BUILD_TIMEOUT_MS });
  return program;
}

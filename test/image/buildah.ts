import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { PACKAGE_ROOT } from '../../src/base/package/package-root.js';

const run = promisify(execFile);
const KEPT = join(fileURLToPath(PACKAGE_ROOT), 'node_modules/.cache/quotamesh-image');
const TIMEOUT_MS = 900_000;
const TOOLS = ['buildah', 'mmdebstrap'];

/**
 * Images and containers of these tests, apart from those of the machine. `chroot`: buildah's own way to run a step
 * where no further namespaces or control groups are to be had, as inside of another container.
 */
export const STORAGE = ['--root', join(KEPT, 'storage'), '--runroot', join(KEPT, 'run')];
export const CHROOT = ['--isolation', 'chroot', '--network', 'host'];

/** What buildah prints; it throws what it says when it fails. */
export async function buildah(command: string, ...args: readonly string[]): Promise<string> {
  const { stdout } = await run('buildah', [...STORAGE, command, ...args], {
    timeout: TIMEOUT_MS,
    maxBuffer: 64 * 1024 ** 2,
  });
  return stdout.trim();
}

/** Why no image can be built here; null where one can. */
export async function whyNoImages(): Promise<string | null> {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'images are built by root on Linux';
  if ((await missingTools()).length > 0 && process.env.CI === 'true' && existsSync('/etc/debian_version')) {
    await run('apt-get', ['update', '-qq'], { timeout: TIMEOUT_MS });
    // Another test process may be at it.
    const flags = ['install', '-y', '-qq', '--no-install-recommends', '-o', 'DPkg::Lock::Timeout=240'];
    await run('apt-get', [...flags, ...TOOLS], { timeout: TIMEOUT_MS });
  }
  const missing = await missingTools();
  return missing.length === 0 ? null : `the image is not built: apt-get install ${missing.join(' ')} (Debian)`;
}

async function missingTools(): Promise<string[]> {
  const found = await Promise.all(
    TOOLS.map((tool) =>
      run(tool, ['--version']).then(
        () => true,
        () => false,
      ),
    ),
  );
  return TOOLS.filter((_, at) => !found[at]);
}

/**
 * Prometheus' own checker, from: an installed promtool; else, with CI=true on Debian as root, Debian's package, of which
 * the one program is taken and kept below node_modules; else `findPromtool()` is null and says what to install.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const TIMEOUT_MS = 60_000;
const KEPT = fileURLToPath(new URL('../../node_modules/.cache/quotamesh', import.meta.url));

export const WHAT_TO_INSTALL =
  'promtool is not here: alerts are checked by grammar and metric table only; install Debian’s package prometheus, ' +
  'or put promtool on the PATH';

/** The program's path. */
export async function findPromtool(): Promise<string | null> {
  const kept = join(KEPT, 'usr/bin/promtool');
  for (const program of ['promtool', kept]) if (await answers(program)) return program;
  const mayFetch = process.env.CI === 'true' && process.getuid?.() === 0 && existsSync('/etc/debian_version');
  if (mayFetch) {
    await fetchInto(KEPT).catch((error: unknown) => console.log(`promtool cannot be fetched: ${error}`));
    if (await answers(kept)) return kept;
  }
  console.log(WHAT_TO_INSTALL);
  return null;
}

/** Not installed: Debian's package starts a server. */
async function fetchInto(folder: string): Promise<void> {
  const cwd = await mkdtemp(join(tmpdir(), 'quotamesh-promtool-'));
  const options = { cwd, timeout: TIMEOUT_MS };
  try {
    const download = () => run('apt-get', ['download', '-qq', 'prometheus'], options);
    await download().catch(async () => {
      await run('apt-get', ['update', '-qq'], options);
      await download();
    });
    const [file] = await readdir(cwd);
    await mkdir(folder, { recursive: true });
    const unpack = 'dpkg-deb --fsys-tarfile "$0" | tar -x -C "$1" ./usr/bin/promtool';
    await run('sh', ['-c', unpack, file, folder], options);
  } finally {
    await rm(cwd, { recursive: true, force: true });
  }
}

function answers(program: string): Promise<boolean> {
  return run(program, ['--version'], { timeout: TIMEOUT_MS }).then(
    () => true,
    () => false,
  );
}

import { chmod, mkdir, open, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';

/** Makes a folder for this user alone; below one shared with a group (`chmod 2770`) like that one. */
export async function makePrivateFolder(path: string): Promise<void> {
  if ((await modeOf(path)) !== null) return;
  const above = dirname(resolve(path));
  if (above !== resolve(path)) await makePrivateFolder(above);
  const isShared = isGroupShared((await modeOf(above)) ?? 0);
  try {
    await mkdir(path, 0o700);
  } catch (error) {
    // Another process has made it meanwhile.
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return;
    throw error;
  }
  if (isShared) await chmod(path, 0o2770);
}

/** Returns the mode of new files in a folder. */
export async function fileModeIn(folder: string): Promise<number> {
  return isGroupShared((await modeOf(folder)) ?? 0) ? 0o660 : 0o600;
}

/** Makes an empty file of exactly this mode, where there is none. */
export async function makeFile(path: string, mode: number): Promise<void> {
  const file = await open(path, 'wx', mode).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EEXIST') return null;
    throw error;
  });
  // The process's mask has narrowed it, and would keep the group out.
  await file?.chmod(mode).finally(() => file.close());
}

/** Describes how other users can look into a folder; null = they cannot. */
export async function openToOthers(folder: string): Promise<string | null> {
  const mode = (await modeOf(folder)) ?? 0;
  if (process.platform === 'win32' || (mode & 0o007) === 0) return null;
  for (let above = dirname(resolve(folder)); above !== dirname(above); above = dirname(above)) {
    if ((((await modeOf(above)) ?? 0) & 0o001) === 0) return null;
  }
  return `mode ${(mode & 0o7777).toString(8)}: other users of this machine can look into it; chmod 700, or 2770 for a group`;
}

function isGroupShared(mode: number): boolean {
  return (mode & 0o2020) === 0o2020;
}

async function modeOf(path: string): Promise<number | null> {
  return await stat(path).then(
    ({ mode }) => mode,
    () => null,
  );
}

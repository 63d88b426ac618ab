import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { COMMAND_FILE, PACKAGE_ROOT } from '../../src/base/package/package-root.js';
import { runShell } from './guide-shell.js';
import type { Block } from './page-blocks.js';

const ROOT = fileURLToPath(PACKAGE_ROOT);
const BLOCK_END = '@@ end of a block';

export interface Played {
  readonly code: number | null;
  /** What all of them wrote, errors with it. */
  readonly output: string;
  /** The same by block of the shell, in order. */
  readonly outputs: readonly string[];
  /** A file that the page has made. */
  file(name: string): string;
}

export interface PlayOptions {
  /** Further commands in the PATH, as text of `sh`. */
  readonly commands?: Readonly<Record<string, string>>;
  /** Bash before the first block; what the page takes to be there. */
  readonly before?: string;
  /** Bash after a block, by its place: where a person would look until something is there, a script has to wait. */
  readonly after?: Readonly<Record<number, string>>;
  readonly timeoutMs: number;
}

/**
 * Runs the blocks of `sh` in one bash, in an empty folder that has the files of the other blocks. It ends with the first
 * command that fails; whatever is still running ends with the test.
 */
export async function playPage(blocks: readonly Block[], options: PlayOptions): Promise<Played> {
  const [folder, bin] = [folderOfTest(), folderOfTest()];
  for (const { file, language, text } of blocks) {
    if (file !== null && language !== 'sh') writeFileSync(join(folder, file), text);
  }
  for (const [name, text] of Object.entries({ ...commandsOfPages(), ...options.commands })) {
    writeFileSync(join(bin, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  }
  const scripts = blocks.filter(({ language }) => language === 'sh').map(({ text }) => text);
  const script = [
    'set -e',
    options.before ?? '',
    ...scripts.map((text, at) => `${text}\n${options.after?.[at] ?? ''}\necho '${BLOCK_END}'`),
  ].join('\n');
  const { code, output } = await runShell(folder, bin, script, options.timeoutMs);
  const outputs = output.split(`${BLOCK_END}\n`).slice(0, scripts.length);
  return { code, output, outputs, file: (name) => readFileSync(join(folder, name), 'utf8') };
}

/** `npm install` links what is here: the package as it is packed has tests of its own. */
function commandsOfPages(): Readonly<Record<string, string>> {
  const command = `exec '${process.execPath}' '${COMMAND_FILE}' "$@"`;
  return {
    quotamesh: command,
    npx: `shift; ${command}`,
    npm: `case $1 in
root) echo "$PWD/node_modules" ;;
i | install) shift; mkdir -p node_modules
  for name; do
    case $name in */quotamesh-*.tgz) ln -s '${ROOT}' node_modules/quotamesh ;; *) ln -s "${ROOT}node_modules/$name" "node_modules/$name" ;; esac
  done ;;
*) echo "npm $*: no page has it" >&2; exit 1 ;;
esac`,
  };
}

function folderOfTest(): string {
  const folder = mkdtempSync(join(tmpdir(), 'quotamesh-page-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

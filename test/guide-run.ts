import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { PACKAGE_ROOT } from '../src/base/package/package-root.js';
import { freePorts } from '../src/tools/processes/free-ports.js';
import { runShell } from './guides/guide-shell.js';

interface GuideBlock {
  readonly language: string;
  readonly text: string;
  /** The file that the text before it names. */
  readonly file: string | null;
}

/**
 * The blocks of a page's part "Two brokers on one machine", which says how to begin.
 *
 * @param page as `docs/guide/pulsar.md`
 * @param ports those of the page; free ones of this machine stand for them
 */
export async function blocksOfGuide(page: string, ports: readonly string[]): Promise<readonly GuideBlock[]> {
  const text = readFileSync(join(fileURLToPath(PACKAGE_ROOT), page), 'utf8');
  const [, part = ''] = text.split('## Two brokers on one machine\n');
  const [first = ''] = part.split('\n## ');
  const free = await freePorts(ports.length);
  const local = ports.reduce((changed, port, at) => changed.replaceAll(port, String(free[at])), first);
  const found = [...local.matchAll(/([^`]*(?:`[^`\n]+`[^`]*)*)```(\w+)\n([\s\S]*?)```/g)];
  return found.map(([, before = '', language = '', block = '']) => {
    const file = /saved as `([\w.-]+)`/i.exec(before)?.[1] ?? null;
    return { language, text: block, file: language === 'sh' ? null : file };
  });
}

export interface GuideRun {
  readonly blocks: readonly GuideBlock[];
  /** What the page expects in the PATH: name → text of a shell script. */
  readonly commands: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
}

/** Writes the page's files into a new folder, and runs its commands there by one shell, which ends with the test. */
export async function runGuide({ blocks, commands, timeoutMs }: GuideRun) {
  const scripts = blocks.filter(({ language }) => language === 'sh').map(({ text }) => text);
  const folder = mkdtempSync(join(tmpdir(), 'quotamesh-guide-'));
  const bin = mkdtempSync(join(tmpdir(), 'quotamesh-guide-bin-'));
  for (const [name, text] of Object.entries(commands)) {
    writeFileSync(join(bin, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  }
  for (const { file, text } of blocks) if (file !== null) writeFileSync(join(folder, file), text);
  onTestFinished(() => {
    for (const each of [folder, bin]) rmSync(each, { recursive: true, force: true });
  });
  const script = ['set -e', ...scripts].join('\n');
  const { code, output } = await runShell(folder, bin, script, timeoutMs);
  return { code, output, folder };
}

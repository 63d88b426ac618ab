import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const TSC = join(ROOT, 'node_modules/typescript/bin/tsc');
/** What a user writes; the second line holds only where types were found. */
const PROGRAM = `import { createNode, QuotameshError, type Decision } from 'quotamesh';
// @ts-expect-error -- a string is no number of milliseconds
void createNode({ config: 'node.yaml', readyTimeoutMs: 'soon' });
export async function ask(): Promise<Decision> {
  const node = await createNode({ config: 'node.yaml' });
  return node.tryAcquire('orders', { messages: 1 });
}
export const isOurs = (error: unknown): boolean => error instanceof QuotameshError;
`;

describe('types of the package', () => {
  test.each([
    [
      'node16, import and require',
      ['program.mts', 'program.cts'],
      ['--module', 'node16', '--moduleResolution', 'node16'],
    ],
    ['nodenext', ['program.mts'], ['--module', 'nodenext', '--moduleResolution', 'nodenext']],
    ['bundler', ['program.ts'], ['--module', 'esnext', '--moduleResolution', 'bundler']],
  ])('%s', (_, files, options) => {
    const folder = consumer();
    for (const file of files) writeFileSync(join(folder, file), PROGRAM);
    const flags = [
      '--noEmit',
      '--strict',
      '--target',
      'es2023',
      '--types',
      'node',
      '--typeRoots',
      join(ROOT, 'node_modules/@types'),
    ];
    let output = '';
    try {
      execFileSync(process.execPath, [TSC, ...flags, ...options, ...files], { cwd: folder, encoding: 'utf8' });
    } catch (error) {
      output = (error as { stdout: string }).stdout;
    }
    expect(output).toBe('');
  });
});

test('import and require give one copy', async () => {
  const folder = consumer();
  const required = createRequire(join(folder, 'program.cjs'))('quotamesh');
  const { QuotameshError } = await import('quotamesh');
  expect(required.QuotameshError).toBe(QuotameshError);
});

/** A folder whose node_modules has this package. */
function consumer(): string {
  const folder = mkdtempSync(join(tmpdir(), 'quotamesh-consumer-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(ROOT, join(folder, 'node_modules/quotamesh'));
  return folder;
}

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

/** Makes a folder for the tests of a file, which is gone after the last of them. */
export function testFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'quotamesh-config-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

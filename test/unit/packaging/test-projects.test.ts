import { readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { createVitest } from 'vitest/node';
import { NPM_TEST, TEST_LONG } from '../../../scripts/test-groups.mjs';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** `npm test` gives vitest several projects at once, and vitest is content with one of them that has tests. */
test('every project that npm test and test:long run has tests, and every test file is in one of them', async () => {
  const vitest = await createVitest('test', { root: ROOT, watch: false, reporters: [] });
  try {
    const specifications = await vitest.globTestSpecifications();
    const run = new Set([...NPM_TEST, ...TEST_LONG].flatMap(({ projects }) => projects));
    const withTests = new Set(specifications.map(({ project }) => project.name));
    expect([...withTests].sort()).toEqual([...run].sort());
    const files = specifications.map(({ moduleId }) => relative(ROOT, moduleId));
    expect(files.filter((file, at) => files.indexOf(file) !== at)).toEqual([]);
    expect(testFiles().filter((file) => !files.includes(file))).toEqual([]);
  } finally {
    await vitest.close();
  }
});

function testFiles(): string[] {
  const entries = readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' });
  return entries.filter((entry) => entry.endsWith('.test.ts')).map((entry) => join('test', entry));
}

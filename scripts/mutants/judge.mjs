/**
 * Started in a copy of the repository: keeps one vitest and runs test files in it as often as its parent asks. Starting vitest anew for every
 * mutant took longer than most tests. Each run has a worker of its own, so it loads the modules that are on the disk by then.
 */
import { relative } from 'node:path';
import { createVitest } from 'vitest/node';

const folder = process.cwd();
const vitest = await createVitest('test', { config: 'vitest.mutants.config.mjs', watch: false, reporters: [{}] });
const project = vitest.projects[0];

process.on('message', async ({ files, bail }) => {
  // The sequencer of the configuration runs in this process as well.
  globalThis.quotameshTestOrder = files;
  for (const { config } of [vitest, project]) config.bail = bail;
  const asked = files.map((file) => project.createSpecification(`${folder}/${file}`));
  const { testModules, unhandledErrors } = await vitest.runTestSpecifications(asked);
  const wanted = new Set(files);
  const results = testModules.map(resultOf).filter(({ file, state }) => wanted.has(file) && state !== 'queued');
  const passed =
    unhandledErrors.length === 0 && results.length === files.length && results.every(({ state }) => state !== 'failed');
  process.send({ passed, results });
});
process.on('disconnect', () => process.exit());
process.send('ready');

function resultOf(module) {
  const { collectDuration, duration } = module.diagnostic();
  const tests = [...module.children.allTests('failed')].map(({ fullName }) => fullName);
  const failed = [...module.errors().map(({ message }) => message), ...tests];
  return { file: relative(folder, module.moduleId), ms: collectDuration + duration, state: module.state(), failed };
}

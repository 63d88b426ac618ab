import { writeFileSync } from 'node:fs';

/**
 * A reporter of vitest: what scripts/test.mjs needs to know of each file, as JSON in the file that TEST_REPORT_FILE names.
 * The variable does not begin with QUOTAMESH_: the nodes that tests start would refuse it.
 */
export default class TestReporter {
  onTestRunEnd(modules) {
    const files = modules.map((module) => {
      const tests = [...module.children.allTests()];
      const run = tests.filter((test) => ['passed', 'failed'].includes(test.result().state));
      const { duration } = module.diagnostic();
      return {
        file: module.relativeModuleId,
        project: module.project.name,
        failed: module.state() === 'failed',
        run: run.length,
        durationMs: duration,
      };
    });
    writeFileSync(process.env.TEST_REPORT_FILE, JSON.stringify(files));
  }
}

import { execFile } from 'node:child_process';
import { describe, it } from 'vitest';

const GUARD = new URL('../../../dist/src/tools/cli/run/guard-process.js', import.meta.url).href;
const INVARIANT = new URL('../../../dist/src/core/base/invariant.js', import.meta.url).href;

/** Prints what is logged, one word of level and the reason per line, and "survived 1" if it comes that far. */
function programThat(misbehaves: string): string {
  return `
    import { guardProcess } from '${GUARD}';
    import { InvariantError } from '${INVARIANT}';
    const say = (level, facts) => console.log(level, facts.reason);
    const log = { log: (level, _, facts) => say(level, facts), fatal: (_, facts) => say('fatal', facts), flushSync() {} };
    const incidents = guardProcess(log);
    ${misbehaves}
    setTimeout(() => console.log('survived', incidents.unhandledRejections), 100);`;
}

describe.concurrent('what nobody caught', () => {
  it('a rejection of a library is logged and counted; the process goes on', async ({ expect }) => {
    const { code, stdout } = await run(programThat(`Promise.reject(new Error('disconnected while disconnecting'));`));
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'error disconnected while disconnecting\nsurvived 1\n' });
  });

  it('a broken invariant ends it, also as a rejection', async ({ expect }) => {
    const { code, stdout } = await run(programThat(`Promise.reject(new InvariantError('shares add up'));`));
    expect({ code, stdout }).toEqual({ code: 1, stdout: 'fatal invariant broken: shares add up\n' });
  });

  it('an exception ends it', async ({ expect }) => {
    const { code, stdout } = await run(programThat(`setTimeout(() => { throw new TypeError('boom'); });`));
    expect({ code, stdout }).toEqual({ code: 1, stdout: 'fatal boom\n' });
  });
});

function run(program: string): Promise<{ code: number | null; stdout: string }> {
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      ['--input-type=module', '-e', program],
      { timeout: 15_000 },
      (_, stdout) => {
        resolve({ code: child.exitCode, stdout });
      },
    );
  });
}

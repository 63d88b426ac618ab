import { CommanderError } from 'commander';
import { describe, expect, test } from 'vitest';
import { type DemoOptions, demoCommand } from '../../../src/tools/demo/command.js';

/** Parses only: the action is replaced. */
async function parse(...args: string[]): Promise<DemoOptions> {
  let parsed: DemoOptions | undefined;
  const command = demoCommand()
    .exitOverride()
    .configureOutput({ writeErr: () => undefined })
    .action((options: DemoOptions) => {
      parsed = options;
    });
  await command.parseAsync(args, { from: 'user' });
  if (parsed === undefined) throw new Error('the action was not reached');
  return parsed;
}

describe('quotamesh demo', () => {
  test('tells the story of three nodes from port 7070 on', async () => {
    expect(await parse()).toEqual({ story: true, nodes: 3, speed: 170, httpPort: 7070 });
    expect(await parse('--no-story', '--kafka', 'k:9092')).toMatchObject({ story: false, kafka: 'k:9092' });
  });

  test('takes durations with and without unit', async () => {
    expect((await parse('--for', '20s')).for).toBe(20_000);
    expect((await parse('--for', '20')).for).toBe(20_000);
    expect((await parse('--for', '1m')).for).toBe(60_000);
  });

  test.each([
    ['--for', 'long'],
    ['--for', '0'],
    ['--nodes', '0'],
    ['--nodes', '2.5'],
    ['--speed', '-1'],
    ['--http-port', '80'],
  ])('refuses %s %s', async (...args) => {
    await expect(parse(...args)).rejects.toThrow(CommanderError);
  });
});

import { afterEach, expect, test, vi } from 'vitest';
import { parse } from 'yaml';
import { writtenHash } from '../../../src/base/access/token.js';
import { resolveConfig } from '../../../src/config/read/resolve-config.js';
import { tokenCommand } from '../../../src/tools/cli/config/token-command.js';

afterEach(() => vi.restoreAllMocks());

async function printed(...args: readonly string[]): Promise<string> {
  let text = '';
  vi.spyOn(process.stdout, 'write').mockImplementation((chunk) => {
    text += String(chunk);
    return true;
  });
  vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  await tokenCommand().parseAsync(['new', ...args], { from: 'user' });
  return text;
}

test('prints a token, and the line of YAML that lets it in', async () => {
  const text = await printed('--name', 'ci', '--role', 'operator', 'traffic', '--tenant', 'acme');
  const [token = '', line = ''] = text.split('\n');
  expect(token).toMatch(/^qm_[\w-]{43}$/);
  const auth = { tokens: parse(line) };
  const config = resolveConfig({ cluster: 'demo', auth, groups: { orders: {} } }, { source: '(test)' });
  expect(config.auth?.tokens).toEqual([
    { name: 'ci', roles: ['operator', 'traffic'], tenants: ['acme'], hash: writtenHash(token).slice('sha256:'.length) },
  ]);
});

test('the same as JSON', async () => {
  const { token, entry } = JSON.parse(await printed('--name', 'gateway', '--role', 'traffic', '--json'));
  expect(entry).toEqual({ name: 'gateway', roles: ['traffic'], hash: writtenHash(token) });
});

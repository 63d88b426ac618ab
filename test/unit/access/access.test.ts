import { describe, expect, test } from 'vitest';
import { Access, matchesName, namesIn } from '../../../src/base/access/access.js';
import type { AccessConfig, TokenConfig } from '../../../src/base/access/access-config.js';
import { FailedAttempts, networkOf } from '../../../src/base/access/failed-attempts.js';
import { isLoopback } from '../../../src/base/access/loopback.js';
import { hashOf, newToken, writtenHash } from '../../../src/base/access/token.js';
import type { QuotameshError } from '../../../src/base/errors/quotamesh-error.js';

function token(name: string, secret: string): TokenConfig {
  return { name, roles: ['traffic'], tenants: null, hash: hashOf(secret).toString('hex') };
}

function scene(config: Partial<AccessConfig> | null) {
  const log: string[] = [];
  const time = { nowMs: 0 };
  const full = config === null ? null : { tokens: [], certificates: [], failuresPerMinute: 3, ...config };
  const telemetry = {
    log: (_: unknown, message: string, facts?: object) => void log.push(message + JSON.stringify(facts)),
  };
  const access = new Access(full, () => time.nowMs, telemetry);
  return { access, log, time };
}

function codeOf(run: () => unknown): string {
  try {
    run();
    return 'let in';
  } catch (error) {
    return (error as QuotameshError).code;
  }
}

describe('tokens', () => {
  test('have 256 random bits, and are known by their hash', () => {
    const made = Array.from({ length: 100 }, newToken);
    expect(new Set(made).size).toBe(100);
    for (const each of made) expect(each).toMatch(/^qm_[\w-]{43}$/);
    // From another implementation: printf abc | sha256sum.
    expect(writtenHash('abc')).toBe('sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  });

  test('a known one says who asks; another one, and a longer one, do not', () => {
    const { access } = scene({ tokens: [token('one', 'first'), token('two', 'second')] });
    expect(access.byToken('second', '10.0.0.1', 'http')).toEqual({
      name: 'two',
      roles: ['traffic'],
      tenants: null,
      how: 'token',
    });
    for (const wrong of ['secon', 'second ', '', 'SECOND']) {
      expect(codeOf(() => scene({ tokens: [token('two', 'second')] }).access.byToken(wrong, 'a', 'http'))).toBe(
        'AUTH_FAILED',
      );
    }
  });

  test('after three failures within a minute an address is refused, a right token included, until the minute is over', () => {
    const { access, time, log } = scene({ tokens: [token('one', 'right')] });
    const attempt = (secret: string, address = '10.0.0.1') => codeOf(() => access.byToken(secret, address, 'http'));
    expect([1, 2, 3, 4].map(() => attempt('wrong'))).toEqual([
      'AUTH_FAILED',
      'AUTH_FAILED',
      'AUTH_FAILED',
      'AUTH_LIMITED',
    ]);
    expect(attempt('right')).toBe('AUTH_LIMITED');
    expect(attempt('right', '10.0.0.2')).toBe('let in');
    time.nowMs = 59_999;
    expect(attempt('right')).toBe('AUTH_LIMITED');
    time.nowMs = 60_000;
    expect(attempt('right')).toBe('let in');
    expect(Object.fromEntries(access.failures)).toEqual({ 'http unknown': 3, 'http limited': 3 });
    expect(log).toHaveLength(2);
    expect(log.join()).not.toMatch(/wrong|right/);
  });

  test('the failure after which an address is refused is logged, however soon it comes; the others every 10 s', () => {
    const { access, time, log } = scene({});
    const attempt = (address: string) => codeOf(() => access.byToken('wrong', address, 'http'));
    for (let at = 0; at < 5; at++) attempt('10.0.0.1');
    attempt('10.0.0.2');
    time.nowMs = 10_000;
    attempt('10.0.0.3');
    expect(log.map((line) => line.slice(0, line.indexOf(',')))).toEqual([
      'a caller was not let in{"address":"10.0.0.1"',
      'failed attempts are limited{"address":"10.0.0.1"',
      'a caller was not let in{"address":"10.0.0.3"',
    ]);
  });

  test('a client with an old token does not lock out its neighbour that was let in before', () => {
    const { access } = scene({ tokens: [token('one', 'right'), token('two', 'new')] });
    const attempt = (secret: string) => codeOf(() => access.byToken(secret, '10.0.0.1', 'http'));
    expect(attempt('right')).toBe('let in');
    for (let time = 0; time < 10; time++) attempt('old');
    expect([attempt('right'), attempt('old'), attempt('new')]).toEqual(['let in', 'AUTH_LIMITED', 'AUTH_LIMITED']);
  });

  test('follow the configuration; `auth:` may come, but not go', () => {
    const { access, log } = scene(null);
    expect(access.isOpen).toBe(true);
    const config = { tokens: [token('one', 'first')], certificates: [], failuresPerMinute: 30 };
    access.take(config);
    expect([access.isOpen, access.version]).toEqual([false, 1]);
    access.take({ ...config });
    expect(access.version).toBe(1);
    access.take({ ...config, tokens: [token('one', 'second')] });
    expect(access.version).toBe(2);
    expect(codeOf(() => access.byToken('first', 'a', 'http'))).toBe('AUTH_FAILED');
    expect(access.byHash(hashOf('second'))?.name).toBe('one');
    expect(access.byHash(hashOf('first'))).toBeNull();
    access.take(null);
    expect([access.isOpen, log.at(-1)]).toEqual([false, expect.stringContaining('until a restart')]);
  });
});

describe('failed attempts', () => {
  test('are remembered of 10,000 addresses', () => {
    const attempts = new FailedAttempts(() => 0);
    for (let n = 0; n < 25_000; n++) attempts.add(`10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`);
    expect(attempts.size).toBe(10_000);
    expect([attempts.count('10.0.0.0'), attempts.count('10.0.97.167')]).toEqual([0, 1]);
  });

  test.each([
    ['10.0.0.7', '10.0.0.7'],
    ['::ffff:10.0.0.7', '10.0.0.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::6', '2001:db8:1:2::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['unix socket', 'unix socket'],
  ])('%s counts as %s', (address, network) => expect(networkOf(address)).toBe(network));
});

describe('certificates', () => {
  const subject = { CN: 'broker-7', O: 'shop' } as never;

  test('have the names that nobody can misread', () => {
    const subjectaltname =
      'DNS:broker-7.example, URI:spiffe://example/broker, IP Address:10.0.0.7, email:ops@example.org';
    expect(namesIn({ subject, subjectaltname })).toEqual([
      'DNS:broker-7.example',
      'URI:spiffe://example/broker',
      'email:ops@example.org',
      'CN=broker-7',
    ]);
    // One entry that would like to be two (CVE-2021-44532), and two common names.
    expect(namesIn({ subject: { CN: ['a', 'b'] }, subjectaltname: 'URI:"http://a/, DNS:root"' })).toEqual([]);
  });

  test.each([
    ['CN=broker-*', 'CN=broker-7', true],
    ['CN=broker-*', 'CN=broker-', true],
    ['CN=broker-*', 'CN=broker-7.evil', false],
    ['CN=broker-*', 'CN=xbroker-7', false],
    ['DNS:*.example', 'DNS:a.example', true],
    ['DNS:*.example', 'DNS:a.b.example', false],
    ['DNS:a.example', 'DNS:abexample', false],
    ['URI:spiffe://example/*', 'URI:spiffe://example/a/b', false],
    ['CN=a', 'DNS:a', false],
  ])('%s and %s: %s', (pattern, name, matches) => expect(matchesName(pattern, name)).toBe(matches));

  test('get the roles of the first rule that matches one of their names', () => {
    const rules = [
      { match: 'CN=broker-*', name: null, roles: ['traffic'], tenants: null },
      { match: 'CN=*', name: 'rest', roles: ['viewer'], tenants: null },
    ] as const;
    const { access } = scene({ certificates: rules });
    const of = (CN: string) => access.byCertificate({ subject: { CN } } as never, '10.0.0.1', 'http');
    expect(of('broker-7')).toMatchObject({ name: 'CN=broker-7', roles: ['traffic'], how: 'certificate' });
    expect(of('x')).toMatchObject({ name: 'rest', roles: ['viewer'] });
    expect(codeOf(() => of('a.b'))).toBe('AUTH_FAILED');
  });
});

test.each([
  ['127.0.0.1', true],
  ['127.9.9.9', true],
  ['::1', true],
  ['localhost', true],
  ['::ffff:127.0.0.1', true],
  ['0.0.0.0', false],
  ['::', false],
  ['10.0.0.1', false],
  ['127.1', false],
  ['localhost.example', false],
])('%s is loopback: %s', (host, loopback) => expect(isLoopback(host)).toBe(loopback));

import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { resolveConfig } from '../../../src/config/read/resolve-config.js';
import { createNodeLog } from '../../../src/doors/telemetry/node-log.js';
import { Scrubber } from '../../../src/doors/telemetry/scrubber.js';

const DECISION = {
  group: 'orders',
  direction: 'publish',
  shareMessages: 500,
  shareBytes: null,
  limitMessages: 625,
  limitBytes: null,
  members: 2,
};

describe('the log of a node', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'quotamesh-log-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('is one JSON object per line, with level names, node and cluster', async () => {
    const { log, lines } = logTo('out.log');
    log.log('info', 'hello', { members: 3 });
    log.log('debug', 'not at level info');
    log.fatal('bye');
    await log.close(1000);
    // A fatal line is written at once and may overtake one that is being written.
    const [hello, bye] = ['hello', 'bye'].map((msg) => lines().find((line) => line.msg === msg));
    expect(lines()).toHaveLength(2);
    expect(hello).toEqual({
      level: 'info',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      cluster: 'demo',
      node: 'a',
      pid: process.pid,
      members: 3,
      msg: 'hello',
    });
    expect(bye).toMatchObject({ level: 'fatal', msg: 'bye' });
  });

  it('shows no secret, by key or wherever a library quotes it', async () => {
    const { log, text } = logTo('out.log', { topic: KAFKA });
    log.log('info', 'by key', {
      sasl: { username: 'u', password: 'other' },
      topic: { password: 'x' },
      tls: { key: 'y' },
    });
    log.log('warn', `login as u with hunter22"x failed`, { reason: 'bad password hunter22"x' });
    await log.close(1000);
    expect(text()).toContain('"username":"u","password":"***"');
    expect(text()).toContain('login as u with *** failed');
    expect(text()).toContain('bad password ***');
    expect(text()).not.toMatch(/hunter22|other|"x"|"y"/);
  });

  it('too short a secret is not searched for: it would break ordinary words', () => {
    const config = resolveConfig(raw({ topic: { ...KAFKA, sasl: { ...KAFKA.sasl, password: 'in' } } }), { source: '' });
    expect(new Scrubber(config).clean('{"level":"info"}')).toBe('{"level":"info"}');
  });

  it('writes every decision at once to a file of its own, where asked for', async () => {
    const { log, decisions } = logTo('out.log', { log: { decisionsFile: 'decisions.jsonl' } });
    const beganMs = Date.now();
    log.decided?.(DECISION);
    const [line] = decisions();
    expect(line).toEqual({ t: expect.any(Number), node: 'a', ...DECISION });
    expect(Math.abs(Number(line?.t) - beganMs)).toBeLessThan(5000);
    await log.close(1000);
    log.decided?.(DECISION);
    expect(decisions()).toHaveLength(1);
  });

  it('has no decision log unless asked for, and says when it cannot be written', () => {
    expect(logTo('out.log').log.decided).toBeUndefined();
    expect(() => logTo('out.log', { log: { decisionsFile: 'no/such/folder/x' } })).toThrow(
      expect.objectContaining({ code: 'FILE_UNWRITABLE', exitCode: 78 }),
    );
  });

  function logTo(name: string, overrides: Readonly<Record<string, unknown>> = {}) {
    const file = join(folder, name);
    const log = createNodeLog(resolveConfig(raw(overrides), { source: '(test)', folder }), openSync(file, 'a'));
    return {
      log,
      text: () => readFileSync(file, 'utf8'),
      lines: () => objectsIn(file),
      decisions: () => objectsIn(join(folder, 'decisions.jsonl')),
    };
  }
});

const KAFKA = {
  kind: 'kafka',
  brokers: ['127.0.0.1:9092'],
  sasl: { mechanism: 'plain', username: 'u', password: 'hunter22"x' },
};

function raw(overrides: Readonly<Record<string, unknown>>) {
  return { cluster: 'demo', node: 'a', topic: 'memory', groups: { orders: {} }, ...overrides };
}

function objectsIn(file: string): Record<string, unknown>[] {
  const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line));
}

import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { runInProcess } from './run-in-process.js';

/** Starts another program at the address of a node; returns its URL. */
async function serverThat(answer: RequestListener): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const COMMANDS = [
  ['status'],
  ['status', '--group', 'x'],
  ['top', '--once'],
  ['nodes'],
  ['explain', 'x'],
  ['group', 'list'],
  ['group', 'get', 'x'],
  ['group', 'set', 'x', 'debtMs=5'],
  ['group', 'set', 'x', 'debtMs=5', '--if-revision', 'none'],
  ['group', 'delete', 'x'],
  ['group', 'delete', 'x', '--dry-run'],
  ['group', 'export', '--all'],
  ['group', 'attach', 'x', '--tenant', 'a'],
  ['group', 'detach', '--tenant', 'a'],
  ['group', 'which', '--tenant', 'a'],
  ['quota', 'get', 'x'],
  ['quota', 'set', 'x', 'total_throughput', '5'],
  ['quota', 'clear', 'x'],
  ['key', 'show', 'key:a'],
  ['key', 'get', 'key:a'],
  ['key', 'set', 'key:a', 'debtMs=5'],
  ['key', 'delete', 'key:a'],
  ['key', 'template', 'list'],
  ['audit'],
];

/** All that commands read is there, and has the wrong kind. */
const LYING = {
  cluster: 1,
  nodeId: {},
  members: 5,
  keys: 'x',
  revision: -1,
  definitions: [null],
  groups: [null, { group: '\u001b]0;x\u0007', directions: null }],
  changes: [{}],
  directions: { publish: {} },
  attachments: [null],
  because: 3,
  next: {},
};

it.each(COMMANDS.map((command) => [command.join(' '), command] as const))(
  '%s: JSON of something else is no answer of a node',
  async (_, command) => {
    let body: unknown;
    const url = await serverThat((_request, answer) => void answer.end(JSON.stringify(body)));
    for (body of [null, [], {}, 'hi', 7, LYING]) {
      const { code, stdout, stderr } = await runInProcess([...command, '--url', url]);
      expect({ body, code, stdout }).toEqual({ body, code: 69, stdout: '' });
      expect(stderr).toMatch(
        /^quotamesh: no answer from a node at http:.* is answered by something else\n.*--url.*\n$/,
      );
    }
  },
);

it.each(['status', 'group list', 'group export', 'audit'])('%s ends where pages do not', async (command) => {
  let asked = 0;
  let next: unknown;
  const url = await serverThat((request, answer) => {
    asked++;
    const rates = { served: false, quota: {}, quotaAsWritten: {}, demand: {} };
    const node = { cluster: 'c', nodeId: 'a', members: [], keys: [], degraded: [], notReadyBecause: [] };
    const lists = {
      groups: [{ group: 'x', origin: 'yaml', revision: 0, publish: rates, dispatch: rates }],
      changes: [],
    };
    const more = { ready: true, topic: { kind: 'memory' }, configuration: { hidden: [] }, busyGroups: [] };
    answer.end(JSON.stringify(request.url === '/v1/nodes' ? { ...node, ...more } : { ...lists, next }));
  });
  for (next of [undefined, 'x', 5]) {
    asked = 0;
    const { code, stderr } = await runInProcess([...command.split(' '), '--url', url]);
    expect({ next, code, isSoon: asked < 5 }).toEqual({ next, code: 69, isSoon: true });
    expect(stderr).toMatch(/is answered by something else\n/);
  }
});

it("what a server's problem says stays on its lines, and colours nothing", async () => {
  let problem: object;
  const url = await serverThat((_, answer) => void answer.writeHead(418).end(JSON.stringify(problem)));
  problem = {
    code: 'ANY',
    detail: '\u001b[31mwrong',
    remedy: 'Do \u001b]0;x\u0007.',
    errors: [{}, { detail: '\u009b2J' }],
  };
  for (const command of ['nodes', 'group delete x']) {
    const { code, stderr } = await runInProcess([...command.split(' '), '--url', url]);
    expect({ code, stderr: stderr.includes('\\u{1b}[31mwrong') }).toEqual({ code: 78, stderr: true });
    expect(stderr.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u);
  }
  for (problem of [{ code: 5, detail: ['wrong'], remedy: null }, { detail: 'wrong' }]) {
    expect(await runInProcess(['group', 'delete', 'x', '--url', url])).toMatchObject({ code: 69 });
  }
});

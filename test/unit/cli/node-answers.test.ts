import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { change, get, nodeAddress } from '../../../src/tools/node-client/node-requests.js';

async function nodeThat(answer: RequestListener): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const problem = (status: number, code: string): RequestListener => {
  return (_, answer) => {
    answer.writeHead(status, { 'content-type': 'application/problem+json', connection: 'close' });
    answer.end(JSON.stringify({ status, code, detail: 'what is wrong', remedy: 'What to do.' }));
  };
};

it.each([400, 401, 403, 404, 409, 422, 429, 500, 503, 507])(
  'status %i: what the node says, with its own remedy',
  async (status) => {
    const node = nodeAddress({ url: await nodeThat(problem(status, 'ANY')) });
    const exitCode = status >= 500 ? 69 : 78;
    const said = { message: expect.stringMatching(/what is wrong$/), remedy: 'What to do.', exitCode };
    await expect(get(node, '/v1/nodes', {})).rejects.toMatchObject(said);
    await expect(change(node, { method: 'PUT', path: '/v1/groups/a', body: {} })).rejects.toMatchObject(said);
  },
);

it('a refused batch names the mistakes of all its groups on one line', async () => {
  const errors = [{ detail: 'first' }, { detail: 'second' }, { detail: 'third' }];
  const said = { status: 422, code: 'ANY', detail: 'first', remedy: 'What to do.', errors };
  const node = nodeAddress({
    url: await nodeThat((_, answer) => void answer.writeHead(422).end(JSON.stringify(said))),
  });
  const sent = change(node, { method: 'PUT', path: '/v1/groups', body: {} });
  await expect(sent).rejects.toMatchObject({ message: 'first; second; third', exitCode: 78 });
});

it('what is no node is none: an error without a remedy, another page', async () => {
  const proxy = nodeAddress({ url: await nodeThat((_, answer) => void answer.writeHead(502).end('{}')) });
  await expect(get(proxy, '/v1/nodes', {})).rejects.toMatchObject({ code: 'NODE_UNREACHABLE' });
  const page = nodeAddress({ url: await nodeThat((_, answer) => void answer.end('<html>')) });
  await expect(get(page, '/v1/nodes', {})).rejects.toMatchObject({ code: 'NODE_UNREACHABLE' });
});

it('https of a port that speaks http alone', async () => {
  const url = await nodeThat((_, answer) => void answer.end('{}'));
  await expect(get(nodeAddress({ url: `https://${url}` }), '/v1/nodes', {})).rejects.toMatchObject({
    code: 'NODE_PROTOCOL',
    remedy: 'Begin the address in --url with http://.',
  });
});

it('an answer without an end is not kept', async () => {
  const chunk = Buffer.alloc(1 << 20, 65);
  const url = await nodeThat((_, answer) => {
    const more = () => {
      while (!answer.destroyed && answer.write(chunk));
    };
    answer.on('drain', more);
    more();
  });
  await expect(get(nodeAddress({ url }), '/v1/nodes', {})).rejects.toMatchObject({
    code: 'NODE_UNREACHABLE',
    message: expect.stringContaining('an answer of more than'),
  });
});

// A quota for each customer, none of whom is written down: three services behind a load balancer share all of them.
//   node examples/embed-keys.mjs a 8081 & node examples/embed-keys.mjs b 8082 & node examples/embed-keys.mjs c 8083 &
//   curl -i -H 'x-api-key: alice' 127.0.0.1:8081
import { createServer } from 'node:http';
import { createNode } from 'quotamesh';

const [, , id = 'a', port = '8081', folder = './state'] = process.argv;
const node = await createNode({
  nodeId: id,
  config: {
    cluster: 'embed-keys',
    topic: { kind: 'embedded', path: folder },
    keys: { 'key:{id}': { quota: { publish: { messagesPerSecond: '600/min' } } } },
  },
});

const server = createServer((request, response) => {
  const { status, headers } = admit(request.headers['x-api-key']);
  response.statusCode = status;
  response.setHeaders(new Headers(headers));
  response.end(status === 200 ? 'hello\n' : '');
});

function admit(apiKey) {
  // A key of nobody would be one key of all who send none.
  if (!apiKey) return { status: 401, headers: {} };
  try {
    const decision = node.tryAcquire(`key:${apiKey}`, { messages: 1 }, { tell: true });
    const { limit, remaining } = decision;
    const headers = { 'x-ratelimit-limit': limit.messages, 'x-ratelimit-remaining': remaining.messages };
    if (decision.granted) return { status: 200, headers };
    headers['retry-after'] = Math.ceil(decision.retryAfterMs / 1000);
    return { status: decision.reason === 'quota' ? 429 : 503, headers };
  } catch (error) {
    // There is no room for another key (503).
    return { status: error.httpStatus ?? 500, headers: {} };
  }
}

server.listen(Number(port), '127.0.0.1', () => console.log(`${id}: http://127.0.0.1:${server.address().port}`));
process.once('SIGTERM', async () => {
  server.close();
  server.closeAllConnections();
  await node.close();
});

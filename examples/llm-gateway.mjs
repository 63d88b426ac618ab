// A gateway in front of a language model: each API key has so many requests and so many tokens a minute.
// What an answer will cost is known when it is there, so the most that it may cost is held until then.
//   UPSTREAM=http://127.0.0.1:8000/v1/chat/completions node examples/llm-gateway.mjs a 8081
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { createNode } from 'quotamesh';

const [, , id = 'a', port = '8081', folder = './state'] = process.argv;
const quota = { publish: { messagesPerSecond: '600/min', bytesPerSecond: '1200000/min' } }; // bytes are tokens here
const keys = { 'llm:{key}': { quota } };
const node = await createNode({
  nodeId: id,
  config: { cluster: 'llm', topic: { kind: 'embedded', path: folder }, keys },
});

const server = createServer(async (request, response) => {
  const answer = (status, body, headers = {}) =>
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
  try {
    const asked = await json(request);
    const key = /^Bearer (\S+)$/.exec(request.headers.authorization)?.[1];
    const most = Math.ceil(JSON.stringify(asked.messages).length / 4) + asked.max_tokens; // four characters a token
    const held = node.reserve(`llm:${key}`, { messages: 1, bytes: most });
    if (!held.granted) {
      const wait = { 'retry-after': Math.ceil(held.retryAfterMs / 1000) };
      return answer(
        held.reason === 'quota' ? 429 : 503,
        { error: { message: `${held.reason}: ${held.dimension}` } },
        wait,
      );
    }
    try {
      const upstream = await fetch(process.env.UPSTREAM, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(asked),
        signal: AbortSignal.timeout(60_000),
      });
      const completion = await upstream.json();
      held.commit({ messages: 1, bytes: completion.usage?.total_tokens ?? most });
      answer(upstream.status, completion);
    } catch (error) {
      held.cancel(); // nothing was answered, nothing is charged
      answer(502, { error: { message: error.message } });
    }
  } catch (error) {
    answer(error.httpStatus ?? 400, { error: { message: error.message } }); // no such key, or no such request
  }
});
server.listen(Number(port), '127.0.0.1', () => console.log(`${id}: http://127.0.0.1:${server.address().port}`));
process.once('SIGTERM', () => {
  server.close();
  server.closeAllConnections();
  node.close();
});

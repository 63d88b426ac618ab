// A prepaid gateway in front of a language model: each API key has so many cents a month, requests a minute, and
// requests at once, however many of these processes run. What an answer costs is known when it is there: the most
// that it may cost is entered with, and what it did cost is charged.
//   UPSTREAM=http://127.0.0.1:8000/v1/chat/completions node examples/llm-prepaid.mjs a 8081
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { createNode } from 'quotamesh';

const [, , id = 'a', port = '8081', folder = './state'] = process.argv;
const millionths = { prompt: 250, completion: 1000 }; // of a cent a token
const centsOf = (prompt, completion) => (prompt * millionths.prompt + completion * millionths.completion) / 1e6;
const keys = {
  'llm:{key}': {
    budget: { cents: 2000, per: 'month', timezone: 'Europe/Berlin' },
    concurrency: 4,
    quota: { publish: { messagesPerSecond: '60/min' } },
    overrides: { trial: { budget: { cents: 20 } } },
  },
};
const node = await createNode({
  nodeId: id,
  config: { cluster: 'prepaid', topic: { kind: 'embedded', path: folder }, groups: {}, keys },
});

const server = createServer(async (request, response) => {
  const answer = (status, body, headers = {}) => {
    const ends = server.listening ? {} : { connection: 'close' }; // this process is being replaced
    response.writeHead(status, { 'content-type': 'application/json', ...ends, ...headers }).end(JSON.stringify(body));
  };
  try {
    const asked = await json(request);
    const key = /^Bearer (\S+)$/.exec(request.headers.authorization)?.[1];
    const tokens = Math.ceil(JSON.stringify(asked.messages).length / 4); // four characters a token
    const most = centsOf(tokens, asked.max_tokens);
    const slot = await node.enter(`llm:${key}`, { messages: 1, cents: most }, { waitMs: 2000 });
    if (!slot.granted) {
      const why = slot.decision?.level ?? slot.reason; // budget, group (requests a minute), concurrency, not-ready
      const wait = { 'retry-after': Math.ceil(slot.retryAfterMs / 1000) };
      return answer(slot.reason === 'not-ready' ? 503 : 429, { error: { message: why } }, wait);
    }
    try {
      const upstream = await fetch(process.env.UPSTREAM, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(asked),
        signal: AbortSignal.timeout(60_000),
      });
      const completion = await upstream.json();
      const { prompt_tokens, completion_tokens } = completion.usage ?? {};
      const cents = completion.usage ? Math.min(most, centsOf(prompt_tokens, completion_tokens)) : most;
      slot.release({ cents });
      answer(upstream.status, { ...completion, cents });
    } catch (error) {
      slot.release({ cents: 0 }); // nothing was answered, nothing is charged
      answer(502, { error: { message: error.message } });
    }
  } catch (error) {
    answer(error.httpStatus ?? 400, { error: { message: error.message } }); // no such key, or no such request
  }
});
server.listen(Number(port), '127.0.0.1', () => console.log(`${id}: http://127.0.0.1:${server.address().port}`));
process.once('SIGTERM', () => server.close(() => node.close())); // what runs ends first, and is charged as it was

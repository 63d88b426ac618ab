// The slow endpoint that the quota protects, an LLM say: an answer takes 100 ms. It counts what it is asked per second.
import { createServer } from 'node:http';

const ANSWER_MS = 100;

export async function startEndpoint() {
  const calls = [];
  const server = createServer((request, response) => {
    calls.push(performance.now());
    request.resume();
    setTimeout(() => response.end('{"answer":"…"}'), ANSWER_MS);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${server.address().port}/`, calls, stop: () => server.close() };
}

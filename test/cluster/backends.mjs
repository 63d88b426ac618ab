/**
 * Three small backends behind one port: bounded queues that are worked off at a rate each, exported for Prometheus.
 * POST /work puts one piece into every queue (what does not fit is lost), GET /metrics/NAME tells its length,
 * POST /capacity sets rates, GET /served tells what each has done.
 */
import { createServer } from 'node:http';

const BOUND = 1000;
const TURN_MS = 5;
const backends = new Map(['a', 'b', 'c'].map((name) => [name, { queue: 0, served: 0, owed: 0, perSecond: 0 }]));

let lastMs = performance.now();
setInterval(() => {
  const nowMs = performance.now();
  for (const backend of backends.values()) {
    // What an idle backend could have done is gone.
    backend.owed = Math.min(backend.owed + (backend.perSecond * (nowMs - lastMs)) / 1000, backend.queue + 1);
    const done = Math.min(backend.queue, Math.floor(backend.owed));
    backend.owed -= done;
    backend.queue -= done;
    backend.served += done;
  }
  lastMs = nowMs;
}, TURN_MS);

const server = createServer((request, response) => {
  const answer = (status, text) => response.writeHead(status).end(text);
  if (request.url === '/work') {
    for (const backend of backends.values()) backend.queue = Math.min(BOUND, backend.queue + 1);
    request.resume();
    return answer(202, '');
  }
  if (request.url?.startsWith('/metrics/')) {
    return answer(200, `# TYPE queue_length gauge\nqueue_length ${backends.get(request.url.slice(9))?.queue}\n`);
  }
  if (request.url === '/served') return answer(200, JSON.stringify(Object.fromEntries(backends)));
  let body = '';
  request.on('data', (chunk) => {
    body += chunk;
  });
  return request.on('end', () => {
    for (const [name, perSecond] of Object.entries(JSON.parse(body))) backends.get(name).perSecond = perSecond;
    answer(200, '');
  });
});
// The clients' pool keeps connections; a stalled machine must not find them closed.
server.keepAliveTimeout = 75_000;
server.listen(0, '127.0.0.1', () => process.send?.(server.address().port));
process.on('disconnect', () => process.exit(0));

/**
 * Open-loop traffic from a process of its own: arrivals do not wait for answers. Plain JavaScript, so that it can be forked
 * without a build. Commands come over IPC:
 *   { kind: 'rates', targets: [{ node, url, ratePerSecond }] }   from now on; missing nodes get no traffic
 *   { kind: 'collect' } → { events: [[answeredMs, node, granted 0|1|-1, sentMs]] }   epoch ms; -1 = no answer, or not ready
 */
import http from 'node:http';

const TICK_MS = 4;
const OUTSTANDING_MAX = 400;
const ANSWER_TIMEOUT_MS = 3000;
/** A node that is not ready is asked 100 times a second: with a request per arrival, refusing them would slow its start. */
const NOT_READY_PAUSE_MS = 10;
const NOT_LISTENING_PAUSE_MS = 50;
const targets = new Map();
let events = [];

process.on('message', (command) => {
  if (command.kind === 'rates') setRates(command.targets, command.poisson);
  if (command.kind === 'collect') {
    process.send({ events });
    events = [];
  }
});
process.on('disconnect', () => process.exit(0));
setInterval(sendDue, TICK_MS);
process.send({ ready: true });

function setRates(wanted, poisson) {
  const nowMs = epochMs();
  for (const target of targets.values()) target.ratePerSecond = 0;
  for (const { node, url, ratePerSecond, group } of wanted) {
    const before = targets.get(node);
    // A node that was started again listens elsewhere.
    const known = before?.url === url ? before : createTarget(node, url);
    Object.assign(known, { ratePerSecond, poisson, group: group ?? 'orders' });
    known.nextMs = nowMs + gapMs(known);
    targets.set(node, known);
  }
}

function createTarget(node, url) {
  const { hostname, port } = new URL(url);
  const agent = new http.Agent({ keepAlive: true, maxSockets: 64, scheduling: 'fifo' });
  return { node, url, hostname, port, agent, outstanding: 0, downUntilMs: 0 };
}

function gapMs({ ratePerSecond, poisson }) {
  if (ratePerSecond <= 0) return Number.POSITIVE_INFINITY;
  return poisson ? (-Math.log(1 - Math.random()) * 1000) / ratePerSecond : 1000 / ratePerSecond;
}

function sendDue() {
  const nowMs = epochMs();
  for (const target of targets.values()) {
    while (target.nextMs <= nowMs) {
      send(target);
      target.nextMs += gapMs(target);
    }
  }
}

function send(target) {
  const sentMs = epochMs();
  if (target.outstanding >= OUTSTANDING_MAX || sentMs < target.downUntilMs) {
    events.push([sentMs, target.node, -1, sentMs]);
    return;
  }
  target.outstanding++;
  const body = `{"group":"${target.group}","messages":1}`;
  const headers = { 'content-type': 'application/json', 'content-length': body.length };
  const { hostname, port, agent } = target;
  const request = http.request({ hostname, port, agent, method: 'POST', path: '/v1/acquire', headers });
  let done = false;
  const settle = (granted) => {
    if (done) return;
    done = true;
    target.outstanding--;
    events.push([epochMs(), target.node, granted, sentMs]);
  };
  request.setTimeout(ANSWER_TIMEOUT_MS, () => request.destroy());
  request.on('response', (response) => {
    if (response.statusCode === 503) target.downUntilMs = epochMs() + NOT_READY_PAUSE_MS;
    settle(response.statusCode === 200 ? 1 : response.statusCode === 429 ? 0 : -1);
    response.resume();
  });
  request.on('error', (error) => {
    if (error.code === 'ECONNREFUSED') target.downUntilMs = epochMs() + NOT_LISTENING_PAUSE_MS;
    settle(-1);
  });
  request.end(body);
}

function epochMs() {
  return performance.timeOrigin + performance.now();
}

// A server on plain TCP sockets that accepts every packet it has read, ten lines each, and then reads nothing more of
// that socket until it is its turn: 1,000 lines a second in all, in equal parts. Run it: node examples/tcp-throttle.mjs
import { connect, createServer } from 'node:net';
import { Buckets, BYTES, MESSAGES, Producer, PublishThrottle, ThrottleTracker } from 'quotamesh/limiter';

const LINES_PER_SECOND = 1000;
const PACKET_LINES = 10;
const PACKET_BYTES = 2 * PACKET_LINES;
const lines = new Map();

const buckets = new Buckets(1);
buckets.setLimit(0, MESSAGES, LINES_PER_SECOND, LINES_PER_SECOND / 20, performance.now());
buckets.setLimit(0, BYTES, Infinity, Infinity, performance.now());
const throttle = new PublishThrottle({
  buckets,
  row: 0,
  reason: 'topicRate',
  debtMs: 1000,
  wakes: 'expected',
  onReleased: plan,
});

let timer;
function plan() {
  clearTimeout(timer);
  if (throttle.waiting > 0) timer = setTimeout(wake, Math.max(1, throttle.nextWakeMs - performance.now()));
}
function wake() {
  throttle.wake(performance.now());
  plan();
}

const server = createServer((socket) => {
  // What is not read here fills the buffers of both ends, and then the client has to wait.
  const tracker = new ThrottleTracker((on) => on && queueMicrotask(read));
  const producer = new Producer(tracker);
  function read() {
    while (!tracker.isThrottled) {
      const packet = socket.read(PACKET_BYTES);
      if (packet === null) return;
      const client = String.fromCharCode(packet[0]);
      lines.set(client, (lines.get(client) ?? 0) + PACKET_LINES);
      throttle.publish(producer, PACKET_LINES, packet.length, performance.now());
      plan();
    }
  }
  socket.on('readable', read);
  socket.on('close', () => throttle.close(producer, performance.now()));
  socket.on('error', () => socket.destroy());
});

server.listen(0, '127.0.0.1', () => {
  const { port } = server.address();
  const clients = ['a', 'b'].map((name) => {
    const socket = connect(port, '127.0.0.1');
    const timer = setInterval(() => socket.writableNeedDrain || socket.write(`${name}\n`.repeat(PACKET_LINES)), 2);
    socket.on('error', () => socket.destroy());
    return { socket, timer };
  });
  setTimeout(() => {
    for (const { socket, timer } of clients) {
      clearInterval(timer);
      socket.destroy();
    }
    clearTimeout(timer);
    server.close();
    for (const [name, count] of [...lines].sort()) console.log(`${name}: ${count} of about 2,000 lines in 4 s`);
  }, 4000);
});

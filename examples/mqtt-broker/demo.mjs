/**
 * Two MQTT brokers of one cluster, ten publishers each, one quota of 200 messages/s for acme/orders. After eight seconds
 * the publishers of broker b stop, and its share goes to a. `node examples/mqtt-broker/demo.mjs`, in a built checkout.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import mqtt from 'mqtt';

const SECONDS = 14;
const B_STOPS_AT = 8;
const cli = fileURLToPath(new URL('../../dist/bin/quotamesh.js', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'quotamesh-mqtt-demo-'));
const config = join(folder, 'broker.yaml');
writeFileSync(config, readFileSync(new URL('broker.yaml', import.meta.url)));

const brokers = await Promise.all(['a', 'b'].map(startBroker));
try {
  const counts = { a: 0, b: 0 };
  await Promise.all(brokers.map((broker) => subscribe(broker, counts)));
  const publishers = await Promise.all(
    brokers.flatMap((broker) => Array.from({ length: 10 }, (_, at) => startPublisher(broker, at))),
  );
  console.log('second   broker a   broker b   together   (quota 200/s)');
  for (let second = 1; second <= SECONDS; second++) {
    if (second === B_STOPS_AT + 1) for (const one of publishers) if (one.broker === 'b') one.stop();
    const before = { ...counts };
    await sleep(1000);
    const [a, b] = [counts.a - before.a, counts.b - before.b];
    console.log(`${second}`.padStart(6), `${a}`.padStart(10), `${b}`.padStart(10), `${a + b}`.padStart(10));
  }
  for (const one of publishers) one.stop();
} finally {
  for (const { child } of brokers) child.kill('SIGTERM');
  await Promise.all(brokers.map(({ exited }) => exited));
  rmSync(folder, { recursive: true, force: true });
}
process.exit(0);

async function startBroker(id) {
  const args = [cli, 'mqtt', '--config', config, '--node', id, '--mqtt', '127.0.0.1:0', '--http', '127.0.0.1:0'];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = new Promise((resolve) => child.once('exit', resolve));
  let log = '';
  child.stdout.on('data', (chunk) => {
    log += chunk;
  });
  while (!/node ready/.test(log)) {
    if (child.exitCode !== null) throw new Error(`broker ${id} ended:\n${log}`);
    await sleep(20);
  }
  return { id, child, exited, url: /mqtt:\/\/[^"]+/.exec(log)[0] };
}

async function subscribe({ id, url }, counts) {
  const client = await mqtt.connectAsync(url, { clientId: 'reader', username: 'acme' });
  client.on('message', () => {
    counts[id]++;
  });
  await client.subscribeAsync('acme/orders/#');
}

/** As fast as it may: QoS 1, five messages under way. */
async function startPublisher({ id, url }, at) {
  const client = await mqtt.connectAsync(url, { clientId: `till-${id}-${at}`, username: 'acme', reconnectPeriod: 0 });
  client.on('error', () => undefined);
  let running = true;
  const next = () => {
    if (running) client.publish(`acme/orders/${id}`, 'one order', { qos: 1 }, (error) => error || next());
  };
  for (let underWay = 0; underWay < 5; underWay++) next();
  return {
    broker: id,
    stop: () => {
      running = false;
    },
  };
}

/**
 * Publishers as a process of their own: `publishers.mjs '{"url": …, "publishers": [{"id", "topic", "perSecond"}], …}'`.
 * QoS 1 with few messages under way each, so that what the broker holds back is not piled up here. Tells its parent when
 * all are connected, begins at `go`, ends with what each had acknowledged: at `stop` at once, at `drain` once all are.
 */
import mqtt from 'mqtt';

const { url, publishers, payloadBytes = 50, underWay = 10 } = JSON.parse(process.argv[2]);
const all = await Promise.all(
  publishers.map(async (publisher) => {
    const client = await mqtt.connectAsync(url, { clientId: publisher.id, reconnectPeriod: 0, keepalive: 5 });
    const state = { ...publisher, client, credit: 0, open: 0, sent: 0, acknowledged: 0, errors: 0 };
    client.on('error', () => state.errors++);
    client.on('close', () => state.errors++);
    return state;
  }),
);
let beforeMs = performance.now();
let timer;

function publish(state) {
  state.credit--;
  state.open++;
  // The number of the message, so that lost and repeated ones are found.
  const payload = `${state.sent++}`.padEnd(payloadBytes);
  state.client.publish(state.topic, payload, { qos: 1 }, (error) => {
    state.open--;
    if (error) state.errors++;
    else state.acknowledged++;
  });
}

function tick() {
  const nowMs = performance.now();
  for (const state of all) {
    state.credit = Math.min(underWay, state.credit + (state.perSecond * (nowMs - beforeMs)) / 1000);
    while (state.credit >= 1 && state.open < underWay) publish(state);
  }
  beforeMs = nowMs;
}

function report() {
  const errors = all.reduce((sum, state) => sum + state.errors, 0);
  process.send({ errors, acknowledged: Object.fromEntries(all.map((state) => [state.id, state.acknowledged])) });
}

process.on('message', (message) => {
  if (message === 'go') {
    beforeMs = performance.now();
    timer = setInterval(tick, 10);
  } else if (message === 'stop') {
    clearInterval(timer);
    report();
  } else if (message === 'drain') {
    clearInterval(timer);
    const drained = setInterval(() => {
      if (all.some(({ open }) => open > 0)) return;
      clearInterval(drained);
      report();
    }, 20);
  } else if (message === 'end') {
    process.exit(0);
  }
});
process.on('disconnect', () => process.exit(0));
process.send('connected');

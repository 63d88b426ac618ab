/**
 * Publishers as a process of their own: `publishers.mjs '{"url": …, "publishers": [{"id", "topic", "perSecond"}], …}'`.
 * QoS 1 with few messages under way each, so that what the broker holds back is not piled up here. Tells its parent when
 * all are connected, begins at `go`, ends at `stop` with what each had acknowledged.
 */
import mqtt from 'mqtt';

const { url, publishers, payloadBytes = 50, underWay = 10 } = JSON.parse(process.argv[2]);
const payload = Buffer.alloc(payloadBytes, 120);
const all = await Promise.all(
  publishers.map(async (publisher) => {
    const client = await mqtt.connectAsync(url, { clientId: publisher.id, reconnectPeriod: 0, keepalive: 5 });
    const state = { ...publisher, client, credit: 0, open: 0, acknowledged: 0, errors: 0 };
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

process.on('message', (message) => {
  if (message === 'go') {
    beforeMs = performance.now();
    timer = setInterval(tick, 10);
  } else if (message === 'stop') {
    clearInterval(timer);
    const errors = all.reduce((sum, state) => sum + state.errors, 0);
    process.send({ errors, acknowledged: Object.fromEntries(all.map((state) => [state.id, state.acknowledged])) });
  } else if (message === 'end') {
    process.exit(0);
  }
});
process.on('disconnect', () => process.exit(0));
process.send('connected');

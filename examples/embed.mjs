// A node inside your own service: every tryAcquire is a local decision, no network hop.
// Run two of these with different ids, and they share the quota: node examples/embed.mjs one & node examples/embed.mjs two
import { createNode } from 'quotamesh';

const node = await createNode({
  nodeId: process.argv[2] ?? 'one',
  config: {
    cluster: 'embed',
    topic: { kind: 'embedded', path: process.argv[3] ?? './state' },
    groups: { orders: { quota: { publish: { messagesPerSecond: 100 } } } },
  },
});
let admitted = 0;
const traffic = setInterval(() => {
  if (node.tryAcquire('orders', { messages: 1, bytes: 512 }).granted) admitted++;
}, 2);
setTimeout(async () => {
  clearInterval(traffic);
  console.log(`${process.argv[2] ?? 'one'}: admitted ${admitted} of about 2,500 in 5 s`);
  await node.close();
}, 5000);

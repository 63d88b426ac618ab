// Groups that nobody has configured: the service makes them for the whole cluster, and each node hears of it.
// Run two of these, the second one first to watch: node examples/embed-groups.mjs watch & node examples/embed-groups.mjs make
import { createNode } from 'quotamesh';

const [, , role = 'make', folder = './state'] = process.argv;
const node = await createNode({
  nodeId: role,
  config: {
    cluster: 'embed-groups',
    topic: { kind: 'embedded', path: folder },
    groups: { others: { quota: { publish: { messagesPerSecond: '60/min' } } } },
  },
});

if (role === 'watch') {
  const done = new Promise((resolve) => {
    node.groups.watch(({ kind, name, definition }) => {
      console.log(`${kind} ${name}: ${JSON.stringify(definition)}`);
      if (kind === 'group' && name === 'acme' && definition === null) resolve();
    });
  });
  console.log('watching');
  await done;
} else {
  // 600 calls a minute for a new customer, and all work of its tenant counts against them.
  await node.groups.set('acme', { quota: { publish: { messagesPerSecond: '600/min' } } }, { ifRevision: 'none' });
  await node.groups.attach('acme', { group: 'acme' });
  await node.groups.patch('acme', { quota: { publish: { messagesPerSecond: '0/min' } } });
  const { granted } = node.tryAcquire({ tenant: 'acme' }, { messages: 1 });
  console.log(`acme has not paid: ${granted ? 'granted' : 'refused'}`);
  await node.groups.delete('acme', { force: true });
  console.log(`left: ${node.groups.list().map(({ group }) => group)}`);
}
await node.close();

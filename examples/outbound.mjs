// Calls to somebody else's API, which allows 600 a minute to all processes of this service together.
//   npm i undici; node examples/outbound.mjs a https://api.example.com/ & node examples/outbound.mjs b https://api.example.com/
import { createNode } from 'quotamesh';
import { Agent, fetch } from 'undici';

const [, , id = 'a', url = 'http://127.0.0.1:8080/', folder = './state', seconds = '5'] = process.argv;
const api = { quota: { publish: { messagesPerSecond: '600/min' } }, burst: 10 };
const node = await createNode({
  nodeId: id,
  config: { cluster: 'outbound', topic: { kind: 'embedded', path: folder }, groups: { api } },
});

/** Every request of a dispatcher waits its turn in the cluster before it is sent. */
function sharedQuota(group, waitMs) {
  return (dispatch) => (options, handler) => {
    node.waitFor(group, { waitMs }).then(
      () => dispatch(options, handler),
      (error) => handler.onResponseError?.(null, error),
    );
    return true;
  };
}

const dispatcher = new Agent().compose(sharedQuota('api', 20_000));
let answered = 0;
const stopMs = performance.now() + Number(seconds) * 1000;
await Promise.all(
  Array.from({ length: 8 }, async () => {
    while (performance.now() < stopMs) {
      await (await fetch(url, { dispatcher })).text();
      answered++;
    }
  }),
);
console.log(`${id}: ${answered} calls in ${seconds} s`);
await dispatcher.close();
await node.close();

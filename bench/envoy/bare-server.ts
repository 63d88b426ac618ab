/** Answers every call with the same message: what node:http2 alone allows. Prints its port. */
import { createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';

/** Overall code OK, one status: code OK, and 1,000,000 per second of which one is taken. */
const ANSWER = Buffer.from('0000000012' + '0801120e0801120608c0843d100118bf843d', 'hex');
const HEADERS = { ':status': 200, 'content-type': 'application/grpc' };
const OPTIONS = { waitForTrailers: true, sendDate: false };

const server = createServer();
server.on('stream', (stream) => {
  stream.on('data', () => {
    stream.respond(HEADERS, OPTIONS);
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
    stream.end(ANSWER);
  });
  stream.on('error', () => undefined);
});
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
process.on('disconnect', () => process.exit(0));

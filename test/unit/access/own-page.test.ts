import { expect, test } from 'vitest';
import { isOwnPage } from '../../../src/doors/http/access/route-guard.js';

test.each<[string, string, string, boolean]>([
  // http.host, address connected to, authority of page and host, own
  ['127.0.0.1', '127.0.0.1', '127.0.0.1:7070', true],
  ['127.0.0.1', '127.0.0.1', 'localhost:7070', false],
  ['127.0.0.1', '127.0.0.1', '[::1]:7070', false],
  ['::1', '::1', '[::1]:7070', true],
  ['::1', '::1', 'localhost:7070', false],
  ['localhost', '127.0.0.1', 'localhost:7070', true],
  ['localhost', '::1', 'localhost:7070', true],
  ['localhost', '::1', '[::1]:7070', true],
  ['::', '::ffff:127.0.0.1', '127.0.0.1:7070', true],
  ['::', '::ffff:127.0.0.1', 'localhost:7070', true],
  ['0.0.0.0', '127.0.0.1', '127.0.0.1:7070', true],
  ['0.0.0.0', '127.0.0.1', 'localhost:7070', false],
  ['127.0.0.1', '127.0.0.1', '127.0.0.1:7071', false],
])('http.host %s, connected to %s: a page of %s is its own: %s', (listensOn, localAddress, host, isOwn) => {
  const socket = { localAddress, localPort: 7070, remoteAddress: localAddress };
  expect(isOwnPage({ host, origin: `http://${host}` }, socket, listensOn)).toBe(isOwn);
});

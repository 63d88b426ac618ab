import { BlockList, isIPv6 } from 'node:net';
import type { HookHandlerDoneFunction } from 'fastify';
import { QuotameshError } from '../../errors.js';

/** An onRequest hook: who asks from another machine is refused with CHANGE_NOT_LOCAL. */
export function onlyThisMachine(
  { socket }: { readonly socket: { readonly remoteAddress?: string | undefined } },
  _: unknown,
  done: HookHandlerDoneFunction,
): void {
  const address = socket.remoteAddress;
  done(isThisMachine(address) ? undefined : new QuotameshError('CHANGE_NOT_LOCAL', { address }));
}

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');

/** Without an address it came over a Unix socket. */
export function isThisMachine(address: string | undefined): boolean {
  return address === undefined || LOOPBACK.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
}

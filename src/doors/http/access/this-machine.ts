import { isLoopback } from '../../../base/access/loopback.js';

/** A request without an address came over a Unix socket. */
export function isThisMachine(address: string | undefined): boolean {
  return address === undefined || isLoopback(address);
}

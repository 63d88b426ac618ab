import { isLoopback } from '../../../base/access/loopback.js';

/** Tests if a caller is of this machine; no address = a Unix socket. */
export function isThisMachine(address: string | undefined): boolean {
  return address === undefined || isLoopback(address);
}

import { isLoopback } from '../../access/loopback.js';

/** Without an address it came over a Unix socket. */
export function isThisMachine(address: string | undefined): boolean {
  return address === undefined || isLoopback(address);
}

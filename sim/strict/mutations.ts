import { EXPIRY_MS } from '../../src/core/strict/constants.js';
import type { StrictNode } from '../../src/core/strict/strict-node.js';
import type { StrictWallet } from '../../src/core/strict/strict-wallet.js';
import type { StrictMutation } from './strict-process.js';

/** Faults put into a node's code on purpose: the judge must find each. */
export const MUTATIONS: Readonly<Record<string, StrictMutation>> = {
  /** Holds and spends what it claims before the log has granted it. */
  'count-on-publication': onWallet(countOnPublication),
  /** Frees what a silent life may hold before any record says so. */
  'expiry-without-record': (node) => {
    const round = node.round.bind(node);
    node.round = (nowMs) => {
      const { fold } = node;
      for (const [key, holder] of fold?.holders ?? []) {
        if (fold === null || key === node.wallet?.key) continue;
        if (node.clock.lowAt(nowMs) - holder.readMs < EXPIRY_MS) continue;
        fold.holders.set(key, { ...holder, hold: 0 });
        fold.heldTokens -= holder.hold;
      }
      round(nowMs);
    };
  },
  /** Raises its stream when it writes a want, before any echo. */
  'raise-before-echo': onWallet((wallet, node) => {
    const count = wallet.count.bind(wallet);
    let countedMs = -Infinity;
    wallet.count = (nowMs) => {
      count(nowMs);
      const { fold } = node;
      const want = Math.max(0, ...wallet.inFlight.map((claim) => claim.want));
      const raised = fold === null || fold.wallet === 0 ? 0 : want - fold.rateAt(wallet.key, node.clock.lowAt(nowMs));
      if (raised > 0 && countedMs > -Infinity) wallet.pour(raised * Math.floor(nowMs - countedMs));
      countedMs = nowMs;
    };
  }),
  /** Begins with the last checkpoint, and forgets what was granted since. */
  'restart-forgets-orders': (node) => {
    const read = node.read.bind(node);
    node.read = (each, nowMs) => {
      if (node.fold !== null || each.record.kind !== 'claim') read(each, nowMs);
    };
  },
};

export function countOnPublication(wallet: StrictWallet): void {
  const wrote = wallet.wrote.bind(wallet);
  wallet.wrote = (claim, nowMs) => {
    wrote(claim, nowMs);
    Object.defineProperty(wallet, 'most', { get: () => claim.hold, configurable: true });
    wallet.grant(claim.taken);
  };
}

function onWallet(change: (wallet: StrictWallet, node: StrictNode) => void): StrictMutation {
  return (node: StrictNode) => {
    let wallet: StrictWallet | null = null;
    Object.defineProperty(node, 'wallet', {
      get: () => wallet,
      set: (next: StrictWallet | null) => {
        wallet = next;
        if (next !== null) change(next, node);
      },
    });
  };
}

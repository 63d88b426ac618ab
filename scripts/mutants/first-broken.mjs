/** `node first-broken.mjs FIRST LAST` prints the first seed whose story of an account breaks a promise, and which; null = none does. */
import { judgeAccount } from '../../dist/sim/account/judge-account.js';

const [first, last] = process.argv.slice(2).map(Number);
process.stdout.write(JSON.stringify(await firstBroken()));

async function firstBroken() {
  for (let seed = first; seed <= last; seed++) {
    const { broken } = await judgeAccount(seed);
    if (broken.length > 0) return { seed, promise: broken[0].promise };
  }
  return null;
}

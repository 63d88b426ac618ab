import type { Verdict } from './verdict.js';

/** A row of the page. */
export interface DeploysResult extends Verdict {
  readonly name: string;
  readonly minutes: number;
  readonly seed: number;
  readonly bound: string;
  /** When, of which commit, and how busy the machine was. */
  readonly ran: string;
}

const HEAD = [
  'service',
  'minutes',
  'seed',
  'refused below quota',
  'of 60 per hour',
  'of 600 per minute',
  'in the minute after a deploy',
  'failed',
  'lost',
  'most above quota × time, in quotas',
  'its bound',
  'customers above it',
  'who want more got, of an exact bucket',
  'p50 ms',
  'p99 ms',
];

const SAYS =
  'Three Express instances behind a balancer, 60 customers on plans of 60 per hour and 600 per minute, `npm run ' +
  'bench:deploys -- --page`: a rolling deploy, a kill -9, a freeze of 7 s, a full restart, another rolling deploy. 54 ' +
  'customers want at most 60 to 90 % of their quota in any hour or minute, so that a bucket, and any window, of the ' +
  'whole service would refuse none of it; six want twice their quota. *Lost*: nobody was there, or no answer came ' +
  'within a second. *Above quota × time*: most of any customer in any span; one is what an exact bucket holds. The ' +
  'bound of quotamesh leaves out the advances that [promises](promises.md#admissions) allow at starts and kills. What ' +
  'quotamesh refuses of 60 per hour comes where a key [becomes loud](../guide/keys.md#silent-and-loud-keys): until its ' +
  'record has come back, a node has nothing to spend of a bucket that is not empty. What is measured: ' +
  '[bench/deploys](../../bench/deploys/README.md).';

/** The part of the race's page that `npm run bench:deploys -- --page` adds. */
export function deploysSection(results: readonly DeploysResult[]): string[] {
  if (results.length === 0) return [];
  return ['## Deploys', SAYS, deploysTable(results)];
}

export function deploysTable(results: readonly DeploysResult[]): string {
  const rows = results.map((each) => [
    each.name,
    String(each.minutes),
    String(each.seed),
    refusedOf(each),
    ...each.plans.map(refusedOf),
    String(each.refusedAfterDeploys),
    String(each.failed),
    String(each.lost),
    each.mostAbove.toFixed(2),
    each.bound,
    String(each.aboveBound),
    `${(100 * each.usedByGreedy).toFixed(1)} %`,
    each.p50Ms.toFixed(2),
    each.p99Ms.toFixed(1),
  ]);
  return [HEAD, HEAD.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
}

function refusedOf({ asked, refused }: { readonly asked: number; readonly refused: number }): string {
  return `${refused} of ${asked}: ${((100 * refused) / asked).toFixed(2)} %`;
}

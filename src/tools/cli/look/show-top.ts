import { setTimeout as sleep } from 'node:timers/promises';
import { styleText } from 'node:util';
import { printable } from '../../../base/errors/printable.js';
import type { NodeStatus } from '../../../node/api/node-status.js';
import { fetchClusterStatus } from '../../node-client/cluster-status.js';
import { nodeAddress } from '../../node-client/node-requests.js';
import { describeError } from '../../terminal/exit.js';
import { textTable } from '../../terminal/text-table.js';
import { TOP_SORTS, type TopOptions, type TopSort } from './top-command.js';
import { type TopRow, topRows } from './top-rows.js';

/** `quotamesh top`: shows a table in place on a terminal, lines elsewhere. */
export async function showTop({ sort, groups, every, count, once, json, ...options }: TopOptions): Promise<void> {
  const asked = nodeAddress(options);
  const isLive = process.stdout.isTTY === true && process.env.TERM !== 'dumb' && json !== true && once !== true;
  const last = once === true ? 1 : count;
  const keys = new SortKeys(sort, isLive);
  const kept = new KeptRows();
  const print = async () => {
    const { node, groups: found, keys: busiest } = await fetchClusterStatus(asked, [], groups);
    const loud = busiest.slice(0, groups).flatMap(({ group }) => group ?? []);
    const rows = topRows([...found, ...loud], keys.sort);
    if (json === true) return JSON.stringify({ time: new Date().toISOString(), groups: rows });
    if (isLive) return tableOf(node, kept.with(rows), keys.sort);
    return once === true ? tableOf(node, rows, keys.sort, false) : linesOf(rows);
  };
  try {
    for (let time = 1; !keys.ended; time++) {
      const text = time === 1 || !isLive ? await print() : await print().catch(describeError);
      process.stdout.write(isLive ? `\x1b[H\x1b[J${text}\n` : `${text}\n`);
      if (time === last) break;
      await sleep(every * 1000, undefined, { signal: keys.signal }).catch(() => undefined);
    }
  } finally {
    keys.close();
  }
}

/** Reads single keys of a terminal. */
class SortKeys {
  sort: TopSort;
  ended = false;
  readonly #isLive: boolean;
  #pressed = new AbortController();

  constructor(sort: TopSort, isLive: boolean) {
    this.sort = sort;
    this.#isLive = isLive && process.stdin.isTTY;
    if (!this.#isLive) return;
    process.stdin.setRawMode(true);
    process.stdin.on('data', this.#read);
  }

  /** Aborted by the next key. */
  get signal(): AbortSignal {
    this.#pressed = new AbortController();
    return this.#pressed.signal;
  }

  close(): void {
    if (!this.#isLive) return;
    process.stdin.setRawMode(false);
    process.stdin.off('data', this.#read);
    process.stdin.pause();
  }

  readonly #read = (keys: Buffer): void => {
    const key = keys.toString();
    // Ctrl-C is no signal in raw mode.
    if (key === 'q' || key === '\x03') this.ended = true;
    this.sort = TOP_SORTS.find((sort) => sort[0] === key) ?? this.sort;
    this.#pressed.abort();
  };
}

const NOBODY = 'no node reports use of a group or a key';
const HEAD = ['GROUP', 'DIRECTION', 'USAGE/s', 'DEMAND/s', 'OF', 'USED', 'THROTTLED/s', 'WORST'];
/** Columns of groups that share tokens. */
const TOKENS_HEAD = ['TOKENS', 'SET POINT', 'CORRECTION/s', 'CHARGED'];

/** @param isLive keys of the terminal sort it, and end it */
export function tableOf(node: NodeStatus, rows: readonly TopRow[], sort: TopSort, isLive = true): string {
  const alive = node.members.filter(({ state }) => state === 'alive').length;
  const title = `cluster ${node.cluster} · ${alive} nodes · as node ${node.nodeId} sees it · by ${sort}${isLive ? ' (t u d g, q)' : ''}`;
  const hasTokens = rows.some(({ tokens }) => tokens !== null);
  const titles = hasTokens ? [...HEAD, ...TOKENS_HEAD] : HEAD;
  const cells = rows.map((row) => (hasTokens ? [...cellsOf(row), ...tokenCells(row)] : cellsOf(row)));
  const [head = '', ...lines] = textTable(titles, cells, [...HEAD.slice(2, 7), ...TOKENS_HEAD.slice(0, 3)]);
  const coloured = lines.map((line, at) => ((rows[at]?.throttled ?? 0) > 0 ? paint('red', line) : line));
  const empty = rows.length === 0 ? [NOBODY] : [];
  const degraded = node.degraded.map((reason) => paint('yellow', printable(`DEGRADED: ${reason}`)));
  return [printable(title), ...degraded, '', paint('bold', head), ...coloured, ...empty].join('\n');
}

export function linesOf(rows: readonly TopRow[]): string {
  const time = new Date().toISOString();
  // Printed even when empty: only a write notices a gone reader.
  if (rows.length === 0) return `${time} ${NOBODY}`;
  return rows
    .map((row) => {
      const { group, direction, dimension, usage, demand, target, throttled, worstNode } = row;
      const figures = `usage=${usage === null ? '-' : shown(usage)} demand=${shown(demand)} of=${shown(target)} throttled=${shown(throttled)}`;
      return `${time} ${group} ${direction} ${dimension} ${figures}${tokenFigures(row)} worst=${worstNode ?? '-'}`;
    })
    .map(printable)
    .join('\n');
}

function cellsOf(row: TopRow): string[] {
  const { group, direction, dimension, usage, demand, target, throttled, worstNode } = row;
  const used = usage === null || target === null || target === 0 ? '' : `${Math.round((usage / target) * 100)} %`;
  const part = demand > 0 && throttled > 0 ? ` (${Math.round((throttled / demand) * 100)} %)` : '';
  const unit = dimension === 'messages' ? 'msg' : 'B';
  return [
    group,
    `${direction} ${unit}`,
    usage === null ? '-' : shown(usage),
    shown(demand),
    shown(target),
    used,
    throttled > 0 ? `${shown(throttled)}${part}` : '',
    worstNode ?? '',
  ];
}

/** Returns token cells; empty = nodes have gates. */
function tokenCells(row: TopRow): string[] {
  const { tokens, depth, setPoint, mostCharged } = row;
  if (tokens === null) return ['', '', '', ''];
  const charged = mostCharged === null ? '' : `${mostCharged.nodeId} ${shown(mostCharged.units)}`;
  return [`${shown(tokens)}/${shown(depth)}`, setPoint === null ? '-' : shown(setPoint), correctionOf(row), charged];
}

function tokenFigures(row: TopRow): string {
  if (row.tokens === null) return '';
  const [tokens, setPoint, correction] = tokenCells(row);
  const { nodeId, units } = row.mostCharged ?? {};
  const charged = nodeId === undefined ? '-' : `${nodeId}:${shown(units ?? 0)}`;
  return ` tokens=${tokens} set-point=${setPoint} correction=${correction} charged=${charged}`;
}

function correctionOf({ correctionPerSecond }: TopRow): string {
  if (correctionPerSecond === null) return '-';
  return `${correctionPerSecond > 0 ? '+' : ''}${shown(correctionPerSecond)}`;
}

function shown(rate: number | null): string {
  return rate === null ? 'unlimited' : String(Math.round(rate * 10) / 10);
}

/** Colours a text, never in files or pipes, whatever FORCE_COLOR says. */
function paint(colour: 'red' | 'yellow' | 'bold', text: string): string {
  return process.stdout.isTTY && process.env.NO_COLOR === undefined ? styleText(colour, text) : text;
}

/** Keeps vanished rows in place for some refreshes: lines do not jump. */
export class KeptRows {
  #last: readonly Kept[] = [];

  /** Adds the last refreshes' missing rows. */
  with(rows: readonly TopRow[]): TopRow[] {
    const told = new Set(rows.map(nameOf));
    const kept: Kept[] = rows.map((row) => ({ row, missing: 0 }));
    for (const [at, { row, missing }] of this.#last.entries()) {
      if (told.has(nameOf(row)) || missing === KEPT_REFRESHES) continue;
      kept.splice(at, 0, { row: { ...row, ...UNUSED }, missing: missing + 1 });
    }
    this.#last = kept;
    return kept.map(({ row }) => row);
  }
}

interface Kept {
  readonly row: TopRow;
  readonly missing: number;
}

function nameOf({ group, direction, dimension }: TopRow): string {
  return `${direction} ${dimension} ${group}`;
}

const UNUSED = { usage: 0, demand: 0, throttled: 0, tokens: null, mostCharged: null, worstNode: null } as const;
/** Refreshes; more keeps unused lines longer, less makes rare ones come and go. */
const KEPT_REFRESHES = 10;

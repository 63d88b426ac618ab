import { parentPort } from 'node:worker_threads';
import { type Cell, playCell } from './cell.js';

/** One thread of bench/traces.ts: the figures of each cell that it is sent. */
parentPort?.on('message', async (cell: Cell) => parentPort?.postMessage(await playCell(cell)));

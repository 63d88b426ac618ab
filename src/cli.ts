#!/usr/bin/env node
import { setFlagsFromString } from 'node:v8';

// A node stands beside a broker: it collects old objects in steps of 2 MB instead of 8, so that its resident memory stays where it was after
// minutes (docs/decisions/0045). Costs 0 to 10 % more CPU per HTTP request. Before the imports, which fill the heap.
setFlagsFromString('--optimize-for-size');

const { runProgram } = await import('./tools/cli/program.js');
await runProgram(process.argv);

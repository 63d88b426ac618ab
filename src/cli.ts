#!/usr/bin/env node
import { runProgram } from './tools/cli/program.js';

await runProgram(process.argv);

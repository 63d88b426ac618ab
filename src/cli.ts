#!/usr/bin/env node
import { runProgram } from './cli/program.js';

await runProgram(process.argv);

import { answerAside } from '../../../config/files/read-aside.js';
import { readRuleFiles } from './load-rules.js';

// The thread of load-rules-aside.ts: reads one folder, and ends.
await answerAside(readRuleFiles);

import { loadConfig } from './load-config.js';
import { answerAside } from './read-aside.js';

// The thread of load-aside.ts: reads one configuration, and ends.
await answerAside(loadConfig);

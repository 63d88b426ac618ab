import { outagePromises } from '../cluster/outage.js';

/** More than twice the time after which nodes call themselves isolated, half of the default; a minute of it in test:long, by defaults. */
outagePromises(5000, { heartbeatMs: 500, stalenessMs: 3000, isolationAfterMs: 1500 });

import { outagePromises } from '../cluster/outage.js';

/** Lasts more than twice the time after which nodes call themselves isolated, the least that heartbeats allow; test:long has a minute of it. */
outagePromises(5000, 2000);

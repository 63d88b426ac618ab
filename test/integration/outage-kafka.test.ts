import { outagePromises } from '../cluster/outage.js';

/** Twice the time after which nodes call themselves isolated, and longer than the 5 s that are counted; a minute in test:long. */
outagePromises(7000);

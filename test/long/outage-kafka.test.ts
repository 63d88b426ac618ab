import { outagePromises } from '../cluster/outage.js';

outagePromises(60_000);

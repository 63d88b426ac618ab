import { outagePromises } from '../cluster/outage.js';

outagePromises(10_000);

import { redisLosses, redisOutages } from '../cluster/redis-outage.js';

redisLosses();
redisOutages(60_000);

import { redisOutages } from '../cluster/redis-outage.js';

redisOutages(6_000);

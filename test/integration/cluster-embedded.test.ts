import { clusterPromises } from '../cluster/promises.js';

clusterPromises('embedded', async () => 'embedded', 'shares');

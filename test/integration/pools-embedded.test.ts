import { poolsPromises } from '../cluster/pools-promises.js';

poolsPromises('embedded', async () => 'embedded');

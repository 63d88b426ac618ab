import { tokensPromises } from '../cluster/tokens-promises.js';

tokensPromises('embedded', async () => 'embedded');

import { recordingPromises } from '../cluster/recording-promises.js';

recordingPromises('embedded', async () => 'embedded');

import { saturatedBackendStory } from '../cluster/saturated-backend-story.js';

saturatedBackendStory({ settleSec: 8, measureSec: 5 });

import { saturatedBackendStory } from '../cluster/saturated-backend-story.js';

saturatedBackendStory({ settleSec: 30, measureSec: 30 });

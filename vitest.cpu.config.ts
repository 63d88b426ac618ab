import base from './vitest.config.ts';
for (const p of (base as any).test.projects) p.test.setupFiles = ['/tmp/tt/cpu-setup.ts'];
export default base;

import { defineConfig } from 'vitest/config'
import { project } from './projects.js'

/** All tests. One project of them: `npm run test:all -- --project browser`. */
export default defineConfig({
  test: {
    projects: (['unit', 'integration', 'programs', 'chromium', 'browser', 'real-time'] as const).map((name) => ({
      test: project(name),
    })),
  },
})

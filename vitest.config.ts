import { defineConfig } from 'vitest/config'
import { project } from './test/projects.js'

/** What `npx vitest` runs, also in a fresh clone. `npm test` runs all projects: test/vitest.config.ts. */
export default defineConfig({ test: project('unit') })

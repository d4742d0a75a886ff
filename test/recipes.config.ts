import { defineConfig } from 'vitest/config'
import { project } from './projects.js'

/**
 * The recipes of the documents, done as they are printed, in projects that have
 * the packed package and the tools of each recipe from the registry. The gate runs them.
 */
export default defineConfig({
  test: {
    ...project('integration'),
    name: 'recipes',
    include: ['test/recipes/*.recipe.ts', 'test/recipes/*.trial.ts'],
    globalSetup: ['test/support/generated-contract.ts', 'test/recipes/install.ts'],
    // They share a project, as recipes in one repository do.
    fileParallelism: false,
  },
})

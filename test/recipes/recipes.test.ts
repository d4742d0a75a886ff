import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { packageDirectory } from '../../src/system/package-files.js'
import { PRINTED } from './recipes.js'

describe('the recipes of the documents', () => {
  it('are all run by the gate, and the gate runs no other', () => {
    const folder = join(packageDirectory, 'test/recipes')
    const run = readdirSync(folder).filter((name) => name.endsWith('.recipe.ts'))
    expect([...PRINTED].sort()).toEqual(run.map((name) => basename(name, '.recipe.ts')).sort())
    expect(readFileSync(join(packageDirectory, '.ci/packed'), 'utf8')).toContain('test/recipes.config.ts')
  })
})

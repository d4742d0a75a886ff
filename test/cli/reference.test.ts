import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { COMMANDS } from '../../src/cli/run-cli.js'
import { packageDirectory } from '../../src/system/package-files.js'
import { withReference } from './reference.js'

const FILE = join(packageDirectory, 'docs/cli.md')
const DOCUMENT = readFileSync(FILE, 'utf8')

describe('docs/cli.md', () => {
  it('says of every command and flag what the help says: `npm test -- test/cli/reference.test.ts -u` writes it anew', async () => {
    await expect(await withReference(DOCUMENT)).toMatchFileSnapshot(FILE)
  })

  it('has a section and the help of every command, and of no other', () => {
    const sections = [...DOCUMENT.matchAll(/^## ([\w-]+)$/gm)].map(([, name]) => name)
    const helps = [...DOCUMENT.matchAll(/^<!-- help of ([\w-]+) -->$/gm)].map(([, name]) => name)
    const names = COMMANDS.map(({ name }) => name)
    expect(sections).toEqual(names)
    expect(helps).toEqual(names)
  })
})

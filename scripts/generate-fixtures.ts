import { FIXTURE_FILES, readFixture } from '../src/fixtures/read-fixtures.js'
import { packageText } from '../src/system/package-files.js'
import { writeGenerated } from './write-generated.js'

/** Writes the packaged fixtures as a module, checked: reading them would take every start some milliseconds. */
export async function generateFixtures(): Promise<void> {
  const content = FIXTURE_FILES.map((name) => {
    const file = `fixtures/${name}`
    return `  ${JSON.stringify(name)}: ${literal(readFixture(name, file, packageText(file)))},\n`
  })
  await writeGenerated(
    'fixtures',
    'packaged-fixtures.ts',
    `// Generated from the files in fixtures/ by scripts/generate-fixtures.ts. Do not edit.

import type { Content, FixtureFile } from '../read-fixtures.js'

export const packagedFixtures: { readonly [Name in FixtureFile]: Content<Name> } = {
${content.join('')}}
`,
  )
}

/** Data as it is written in a program: as in JSON, but for ids that take a bigint. */
function literal(value: unknown): string {
  if (typeof value === 'bigint') return `${value}n`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(literal).join(',')}]`
  return `{${Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}:${literal(member)}`)}}`
}

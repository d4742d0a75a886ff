import { readdir } from 'node:fs/promises'
import { FIXTURE_FILES, readFixture } from '../src/fixtures/read-fixtures.js'
import { readYamlMap } from '../src/options/yaml-map.js'
import { fixturesDirectory, packageText } from '../src/system/package-files.js'
import { writeGenerated } from './write-generated.js'

const NOTE = '// Generated from the files in fixtures/ by scripts/generate-fixtures.ts. Do not edit.\n'

/** fixtures/ as checked modules: reading them would take every start some milliseconds. */
export async function generateFixtures(): Promise<void> {
  await Promise.all([writeFixtures(), writeScenarios()])
}

async function writeFixtures(): Promise<void> {
  const content = FIXTURE_FILES.map((name) => {
    const file = `fixtures/${name}`
    return `  ${JSON.stringify(name)}: ${literal(readFixture(name, file, packageText(file)))},\n`
  })
  await writeGenerated(
    'fixtures',
    'packaged-fixtures.ts',
    `${NOTE}
import type { Content, FixtureFile } from '../read-fixtures.js'

export const packagedFixtures: { readonly [Name in FixtureFile]: Content<Name> } = {
${content.join('')}}
`,
  )
}

async function writeScenarios(): Promise<void> {
  const files = (await readdir(`${fixturesDirectory}/scenarios`)).filter((name) => name.endsWith('.yaml')).sort()
  const scenarios = files.map((file) => {
    const map = readYamlMap(packageText(`fixtures/scenarios/${file}`), file)
    if ('problems' in map) throw new Error(map.problems.join('\n'))
    return `  ${JSON.stringify(file.slice(0, -'.yaml'.length))}: ${literal(map.entries)},\n`
  })
  await writeGenerated(
    'options',
    'packaged-scenarios.ts',
    `${NOTE}
import type { YamlMap } from '../yaml-map.js'

export const packaged: Readonly<Record<string, YamlMap['entries']>> = {
${scenarios.join('')}}
`,
  )
}

/** As in JSON, with bigints for long ids. */
function literal(value: unknown): string {
  if (typeof value === 'bigint') return `${value}n`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(literal).join(',')}]`
  return `{${Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}:${literal(member)}`)}}`
}

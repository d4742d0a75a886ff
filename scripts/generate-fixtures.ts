import { readdir } from 'node:fs/promises'
import { KEYS_FILE, parseFixture, readKeys } from '../src/fixtures/read-fixtures.js'
import { readYamlMap } from '../src/options/yaml-map.js'
import { fixturesDirectory, packageText } from '../src/system/package-files.js'
import { writeGenerated } from './write-generated.js'

const NOTE = '// Generated from the files in fixtures/ by scripts/generate-fixtures.ts. Do not edit.\n'

/** fixtures/ as modules: reading them would take every start some milliseconds. */
export async function generateFixtures(): Promise<void> {
  await Promise.all([writeFixtures(), writeScenarios()])
}

async function writeFixtures(): Promise<void> {
  const resources = (await readdir(fixturesDirectory)).flatMap((name) => {
    const [, resource] = /^(.+)\.json$/.exec(name) ?? []
    return resource === undefined || name === KEYS_FILE ? [] : [resource]
  })
  const records = resources.sort().map((name) => {
    const file = `fixtures/${name}.json`
    return `    [${JSON.stringify(name)}, ${literal(parseFixture(file, packageText(file)))}],\n`
  })
  const keys = readKeys(KEYS_FILE, packageText(`fixtures/${KEYS_FILE}`))
  await writeGenerated(
    'fixtures',
    'packaged-fixtures.ts',
    `${NOTE}
import type { Values } from '../../contract/contract.js'
import type { ApiKey } from '../../domain/keys.js'

export const packagedFixtures: {
  readonly records: readonly (readonly [resource: string, values: readonly Values[]])[]
  readonly keys: readonly ApiKey[]
} = {
  records: [
${records.join('')}  ],
  keys: ${literal(keys)},
}
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

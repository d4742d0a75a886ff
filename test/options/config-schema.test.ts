import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { configSchema } from '../../scripts/option-schemas.js'
import { configText } from '../../src/cli/init.js'
import { packagedScenarios } from '../../src/options/scenario.js'
import { fixturesDirectory } from '../../src/system/package-files.js'
import { blocksOf, GUIDES } from '../support/documents.js'

const ajv = new Ajv({ allErrors: true, allowUnionTypes: true }).addSchema(configSchema(), 'config')

/** What an editor would mark. */
function problems(value: unknown, schema = 'config'): readonly string[] {
  const validate = ajv.getSchema(schema)
  if (validate === undefined) throw new Error(`There is no schema ${schema}.`)
  void validate(value)
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`)
}

describe('the JSON Schema of the config file', () => {
  it('accepts the file that init writes, with any of its switches on', () => {
    const text = configText({ fixtures: 'petstore-fixtures' }, 'schema.json')
    expect(problems(parse(text))).toEqual([])
    const switches = text.match(/^#?[a-z-]+: .*$/gm) ?? []
    expect(switches.length).toBeGreaterThan(30)
    expect(switches.flatMap((line) => problems(parse(line.replace('#', ''))))).toEqual([])
  })

  it.each(['Orders: v2 #1.yaml', "it's.json", '123', '- a', 'ü b.yaml'])('names a document %j in that file', (spec) =>
    expect(parse(configText({ spec }, 'schema.json'))).toEqual({ spec }),
  )

  it.each(packagedScenarios())('has nothing to say about the scenario %s, in its file or in a config', (name) => {
    const scenario: unknown = parse(readFileSync(join(fixturesDirectory, 'scenarios', `${name}.yaml`), 'utf8'))
    expect(problems(scenario, 'config#/$defs/scenario')).toEqual([])
    expect(problems({ scenario })).toEqual([])
  })

  it.each([
    ['config', 'config'],
    ['scenario', 'config#/$defs/scenario'],
  ])('has nothing to say about the blocks of the documents that are marked as a %s', (marker, schema) => {
    const blocks = GUIDES.flatMap(blocksOf).filter((block) => block.marker === marker)
    expect(blocks.length).toBeGreaterThan(0)
    expect(blocks.flatMap(({ code }) => problems(parse(code), schema))).toEqual([])
  })

  it('marks what is wrong, and takes both spellings', () => {
    for (const config of [
      { 'ban-afer': 3 },
      { upstream: 'https://staging.example/v1' },
      { controlToken: 'change-me' },
      { plan: 5 },
      { port: 70_000 },
      { storm: { rate: 2 } },
      { storm: { rate: 0.2, 'retry-aftr': '2s' } },
      { fault: ['*:503', { operation: 'listPets', fault: 'hangs' }] },
      { scenario: { port: 4010 } },
      { scenario: { upstream: 'https://staging.example/v1' } },
    ])
      expect(problems(config), JSON.stringify(config)).not.toEqual([])
    const storms = [
      { rate: 0.2, 'retry-after': '2s' },
      { rate: 0.2, retryAfter: '2s' },
    ]
    for (const config of [...storms.map((storm) => ({ storm })), { fault: '*:503' }, { banAfter: 'never' }])
      expect(problems(config)).toEqual([])
  })
})

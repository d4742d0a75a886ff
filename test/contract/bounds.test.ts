import { describe, expect, it } from 'vitest'
import { excerpt } from '../../src/contract/excerpt.js'
import { parseJson, stringifyJson } from '../../src/contract/json.js'
import { loadContract } from '../../src/openapi/load-contract.js'
import { temporaryFile } from '../support/temporary-files.js'

const HEAD = 'openapi: 3.1.0\ninfo: {title: t, version: "1"}\n'

/** listPets with one parameter, held to a pattern. */
function patterned(pattern: string): string {
  const parameters = [{ name: 'a', in: 'query', schema: { type: 'string', pattern } }]
  const schema = { type: 'array', items: { type: 'object', properties: { id: { type: 'integer' } } } }
  const responses = { 200: { description: 'All pets', content: { 'application/json': { schema } } } }
  const paths = { '/pets': { get: { operationId: 'listPets', parameters, responses } } }
  return temporaryFile('c.json', JSON.stringify({ openapi: '3.1.0', info: { title: 't', version: '1' }, paths }))
}

describe('an excessive contract', () => {
  const levels = 100_000
  const bomb = Array.from({ length: 12 }, (_, i) => `x-${i + 1}: &a${i + 1} [${Array(9).fill(`*a${i}`).join(', ')}]\n`)

  it.each([
    ['one of 50 MB', 'c.yaml', `${HEAD}x-a: ${'a'.repeat(50_000_000)}`, 'it is larger than 40 MB'],
    [
      'lists in lists in JSON',
      'c.json',
      `{"x-a":${'['.repeat(levels)}${']'.repeat(levels)}}`,
      'nested more than 1000 levels deep',
    ],
    ['lists in lists in YAML', 'c.yaml', `${HEAD}x-a: ${'['.repeat(levels)}${']'.repeat(levels)}`, 'nested too deeply'],
    ['aliases of aliases', 'c.yaml', `${HEAD}x-0: &a0 [1]\n${bomb.join('')}`, 'Excessive alias count'],
    [
      'a name twice',
      'c.yaml',
      `${HEAD}x-a:\n  k: 1\n  j: 2\n  k: 1\n`,
      'the same name twice in one map at line 6, column 3',
    ],
  ])('is refused with a clear error: %s', async (_what, name, text, message) => {
    const file = temporaryFile(name, text)
    const error: unknown = await loadContract(file).catch((caught: unknown) => caught)
    expect(error).toMatchObject({ code: 'SPEC_INVALID', message: expect.stringContaining(file) })
    expect(error).toMatchObject({ message: expect.stringContaining(message) })
  })

  it('may reach the same parts in 2^40 ways', async () => {
    const schemas: Record<string, unknown> = { s40: { type: 'object', properties: { name: { type: 'string' } } } }
    for (let i = 0; i < 40; i++) {
      const $ref = `#/components/schemas/s${i + 1}`
      schemas[`s${i}`] = { allOf: [{ $ref }, { $ref }] }
    }
    const content = { 'application/json': { schema: { $ref: '#/components/schemas/s0' } } }
    const responses = { 201: { description: 'Created' } }
    const paths = { '/pets': { post: { operationId: 'createPet', requestBody: { content }, responses } } }
    const document = { openapi: '3.1.0', info: { title: 't', version: '1' }, paths, components: { schemas } }
    const [createPet] = (await loadContract(temporaryFile('c.json', JSON.stringify(document)))).operations
    expect(createPet?.body?.fields.map(({ name }) => name)).toEqual(['name'])
  })
})

describe('a pattern of a contract', () => {
  it.each(['^(a+)+$', '\\s+$'])('is matched in linear time: %s', async (pattern) => {
    const [listPets] = (await loadContract(patterned(pattern))).operations
    const { violations } = listPets?.readQuery(`a=${'a'.repeat(30)}${'%20'.repeat(20_000)}!`) ?? {}
    expect(violations).toHaveLength(1)
  })

  it.each([
    ['^[A-Z]{2}\\d{2,4}$', 'AB123', 'AB1'],
    ['^\\p{Lu}\\p{L}*$', 'Über', 'über'],
    ['^(?<year>\\d{4})-\\d\\d$', '2026-01', '26-01'],
    ['^[^/\\\\]+\\.ya?ml$', 'a.yml', 'a/b.yml'],
    ['\\u00e9', 'café', 'cafe'],
    ['(?i)^ab\\z', 'AB', 'ABC'],
    ['^[\\w-.]+$', 'a-b.c', 'a b'],
  ])('matches as JavaScript does: %s', async (pattern, kept, broken) => {
    const [listPets] = (await loadContract(patterned(pattern))).operations
    const count = (text: string) => listPets?.readQuery(`a=${encodeURIComponent(text)}`).violations.length
    expect([count(kept), count(broken)]).toEqual([0, 1])
  })

  it.each(['^(?=.*a)b', '(a)\\1', 'a{2000}', '['])(
    'that cannot be is not checked, and a note names it: %s',
    async (pattern) => {
      const { notes, operations } = await loadContract(patterned(pattern))
      const place = 'paths./pets.get.parameters[0].schema'
      expect(notes).toContainEqual(
        expect.stringContaining(`${place}: the pattern ${JSON.stringify(pattern)} is not checked`),
      )
      expect(operations[0]?.readQuery('a=%2B').violations).toEqual([])
    },
  )
})

it('short numbers do not become hundreds of digits each', () => {
  expect(parseJson('[1e308,-1e300,1e400,2e40]')).toEqual([1e308, -1e300, Number.POSITIVE_INFINITY, 2e40])
  expect(stringifyJson(parseJson('[1e308]'))).toBe('[1e+308]')
  expect(parseJson('[12e38]')).toEqual([12n * 10n ** 38n])
})

describe('an excerpt', () => {
  it('has 200 characters and no half surrogate pair', () => {
    expect(excerpt('a'.repeat(200))).toBe('a'.repeat(200))
    expect(excerpt('a'.repeat(201))).toBe(`${'a'.repeat(200)}…`)
    expect(excerpt(`${'a'.repeat(199)}😀`)).toBe(`${'a'.repeat(199)}…`)
  })
})

import { describe, expect, it } from 'vitest'
import type { Operation } from '../../src/contract/contract.js'
import { INT64_MAXIMUM, INT64_MINIMUM } from '../../src/contract/int64.js'
import { packagedContract } from '../../src/contract/packaged-contract.js'
import fc from '../support/fast-check.js'

const CATEGORY = 'categoryId must be a whole number from -9223372036854775808 to 9223372036854775807'
const LIMIT = 'limit must be a whole number from 1 to 100'
const STATUS = 'status must be one of available, pending, sold'

function operation(id: string): Operation {
  const found = packagedContract().operations.find((candidate) => candidate.id === id)
  if (found === undefined) throw new Error(`Unknown operation ${id}.`)
  return found
}

function messages({ violations }: { readonly violations: readonly { readonly message: string }[] }): readonly string[] {
  return violations.map(({ message }) => message)
}

describe('a query of listPets', () => {
  const read = (search: string) => operation('listPets').readQuery(search)

  it.each([
    ['', { limit: 20 }],
    ['limit=1', { limit: 1 }],
    ['limit=100', { limit: 100 }],
    ['status=sold', { limit: 20, status: 'sold' }],
    ['&&limit=5&', { limit: 5 }],
    ['l%69mit=%35&st%61tus=%73old', { limit: 5, status: 'sold' }],
  ])('%j is understood', (search, values) => {
    expect(read(search)).toEqual({ values, violations: [], unknown: [] })
  })

  it.each([
    ['limit=0', [`${LIMIT} (it is 0)`]],
    ['limit=101', [`${LIMIT} (it is 101)`]],
    ['limit', [`${LIMIT} (it is "")`]],
    ['limit=05', [`${LIMIT} (it is "05")`]],
    ['limit=+5', [`${LIMIT} (it is " 5")`]],
    ['limit=9223372036854775807', [`${LIMIT} (it is 9223372036854775807)`]],
    ['limit=%E0%A4', [`${LIMIT} (it is "%E0%A4")`]],
    ['status=Sold', [`${STATUS} (it is "Sold")`]],
    ['limit=1&limit=2&limit=3', ['limit is given 3 times']],
    ['limit=abc&status=x', [`${LIMIT} (it is "abc")`, `${STATUS} (it is "x")`]],
  ])('%j is refused, naming every violation at once', (search, expected) => {
    expect(messages(read(search))).toEqual(expected)
  })

  it('quotes a long value in part', () => {
    expect(messages(read(`limit=${'9'.repeat(5000)}`))).toEqual([`${LIMIT} (it is "${'9'.repeat(60)}"…)`])
  })

  it('names unknown parameters and ignores them', () => {
    expect(read('offset=1&__proto__=2&constructor=3&offset=4&a+b=5')).toEqual({
      values: { limit: 20 },
      violations: [],
      unknown: ['offset', '__proto__', 'constructor', 'a b'],
    })
  })

  it('is always readable', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (search) => {
        const { values, violations } = read(search)
        expect(violations.length > 0 || (typeof values.limit === 'number' && values.limit >= 1)).toBe(true)
      }),
    )
  })
})

describe('the path of getPet', () => {
  const read = (petId: string) => operation('getPet').readPath([petId])

  it('accepts every int64, digit for digit', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: INT64_MINIMUM, max: INT64_MAXIMUM }), (petId) => {
        const { values, violations } = read(String(petId))
        expect(violations).toEqual([])
        expect(String(values.petId)).toBe(String(petId))
        expect(typeof values.petId).toBe(Number.isSafeInteger(Number(petId)) ? 'number' : 'bigint')
      }),
    )
  })

  it('accepts percent-encoded digits', () => {
    expect(read('%31').values).toEqual({ petId: 1 })
  })

  it.each(['01', '-0', '1.0', 'abc', '%', '1%2F', '9223372036854775808'])('refuses %j', (petId) => {
    expect(read(petId).violations).toHaveLength(1)
  })
})

describe('a body of createPet', () => {
  const read = (text: string) => operation('createPet').readBody(new TextEncoder().encode(text))

  it.each([
    ['{"name":"Rex","categoryId":1}', { name: 'Rex', categoryId: 1 }],
    ['{"name":"","categoryId":0,"status":"sold"}', { name: '', categoryId: 0, status: 'sold' }],
    ['{"name":"Rex","categoryId":1.0}', { name: 'Rex', categoryId: 1 }],
    ['{"name":"Rex","categoryId":9223372036854775807}', { name: 'Rex', categoryId: 9223372036854775807n }],
    ['{"name":"Rex","categoryId":-9223372036854775808}', { name: 'Rex', categoryId: -9223372036854775808n }],
    ['\ufeff{"name":"Rex","categoryId":1}', { name: 'Rex', categoryId: 1 }],
  ])('%s is understood', (text, values) => {
    expect(read(text)).toEqual({ values, violations: [], unknown: [] })
  })

  it.each([
    ['{"name":"Rex","categoryId":9223372036854775808}', [`${CATEGORY} (it is 9223372036854775808)`]],
    ['{"name":"Rex","categoryId":1.5}', [`${CATEGORY} (it is 1.5)`]],
    [
      '{"name":"Rex","categoryId":9007199254740993.5}',
      [`${CATEGORY} (it is a fraction with too many digits to be kept)`],
    ],
    ['{"name":"Rex","categoryId":1e999999999}', [`${CATEGORY} (it is too large)`]],
    ['{"name":"Rex","categoryId":"1"}', [`${CATEGORY} (it is "1")`]],
    ['{"name":[1],"categoryId":{}}', ['name must be a string (it is an array)', `${CATEGORY} (it is an object)`]],
    ['{"name":"Rex","categoryId":1,"status":"gone"}', [`${STATUS} (it is "gone")`]],
    ['{}', ['name is required', 'categoryId is required']],
    ['{"name":null}', ['categoryId is required', 'name must be a string (it is null)']],
    ['', ['a body is required; send a JSON object']],
    [' ', ['the body is not valid JSON: unexpected end at line 1, column 2']],
    ['{"name":"Rex",\n}', ['the body is not valid JSON: unexpected "}" at line 2, column 1']],
    ['[]', ['the body must be a JSON object (it is an array)']],
    ['null', ['the body must be a JSON object (it is null)']],
    [
      `${'['.repeat(100_000)}1e5${']'.repeat(100_000)}`,
      ['the body is not valid JSON: it is nested more than 200 levels deep'],
    ],
  ])('%s is refused, naming every violation at once', (text, expected) => {
    expect(messages(read(text))).toEqual(expected)
  })

  it('that is missing is refused', () => {
    expect(messages(operation('createPet').readBody(undefined))).toEqual(['a body is required; send a JSON object'])
  })

  it.each([
    [[0x22, 0xff, 0x22], 2],
    [[0x22, 0xe2, 0x82, 0x22], 2],
    [[0x22, 0x61, 0xc3], 3],
  ])('of the bytes %j is invalid UTF-8 from byte %i on', (bytes, place) => {
    const { violations } = operation('createPet').readBody(Uint8Array.from(bytes))
    expect(messages({ violations })).toEqual([`the body is not valid UTF-8 (at byte ${place})`])
  })

  it('names unknown fields and drops them', () => {
    const reading = read('{"name":"Rex","categoryId":1,"age":3,"__proto__":{"status":"sold"},"constructor":1}')
    expect(reading).toEqual({
      values: { name: 'Rex', categoryId: 1 },
      violations: [],
      unknown: ['age', '__proto__', 'constructor'],
    })
  })

  it('keeps the last of a repeated field', () => {
    expect(read('{"name":"a","name":"b","categoryId":1}').values.name).toBe('b')
    expect(read('{"name":"a","name":"b","categoryId":9007199254740993}').values.name).toBe('b')
  })
})

describe('an operation without a body', () => {
  it('ignores it', () => {
    expect(operation('getPet').takesBody).toBe(false)
    expect(operation('getPet').readBody(Uint8Array.from([0xff])).violations).toEqual([])
  })
})

import { describe, expect, it } from 'vitest'
import { buildRequest, type CallInput, requestUrl } from '../../src/client/build-request.js'
import type { Operation } from '../../src/contract/contract.js'
import { parseJson } from '../../src/contract/json.js'
import { packagedContract } from '../../src/contract/packaged-contract.js'
import fc from '../support/fast-check.js'

const NOTHING: CallInput = { path: [], query: new Map(), fields: new Map() }

function operation(id: string): Operation {
  const found = packagedContract().operations.find((one) => one.id === id)
  if (found === undefined) throw new Error(`no ${id}`)
  return found
}

const fields = (values: Readonly<Record<string, string>>): CallInput['fields'] =>
  new Map(
    (operation('createPet').body?.fields ?? []).flatMap((one) =>
      values[one.name] === undefined ? [] : [[one, [values[one.name] ?? '']]],
    ),
  )

const bodyOf = (values: Readonly<Record<string, string>>) =>
  buildRequest(operation('createPet'), { ...NOTHING, fields: fields(values) })

describe('an address', () => {
  it('keeps the path of the base address, once', () => {
    const given: Readonly<Record<string, readonly string[]>> = { limit: ['5'], status: ['sold'] }
    const query = new Map(operation('listPets').parameters.map((one) => [one, given[one.name] ?? []]))
    const request = buildRequest(operation('listPets'), { ...NOTHING, query })
    expect(requestUrl(request, 'https://h.example/deep/v1')).toBe('https://h.example/deep/v1/pets?limit=5&status=sold')
  })

  it('is never left by a value in its path', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (value) => {
        let path: string
        try {
          path = buildRequest(operation('getPet'), { ...NOTHING, path: [value] }).path
        } catch {
          expect(['', '.', '..']).toContain(value)
          return
        }
        const url = new URL(`http://h/v1${path}`)
        expect(url.pathname.split('/')).toHaveLength(4)
        expect(url.pathname.startsWith('/v1/pets/')).toBe(true)
        expect(url.search + url.hash).toBe('')
      }),
    )
  })
})

describe('a body made of flags', () => {
  it('has whole numbers digit for digit', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (value) => {
        const { body, violations } = bodyOf({ name: '1', categoryId: String(value) })
        expect(violations).toEqual([])
        expect(Buffer.from(body ?? []).toString()).toBe(`{"name":"1","categoryId":${value}}`)
      }),
    )
  })

  it.each(['9223372036854775808', '1.5', 'x', '', 'true'])('is refused for the whole number %j', (categoryId) =>
    expect(bodyOf({ name: 'Rex', categoryId }).violations).toMatchObject([{ in: 'body', name: 'categoryId' }]),
  )

  it('has any text as it is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (name) => {
        const { body } = bodyOf({ name, categoryId: '1' })
        expect(parseJson(Buffer.from(body ?? []).toString())).toEqual({ name, categoryId: 1 })
      }),
    )
  })

  it('names every missing field of a missing body', () =>
    expect(buildRequest(operation('createPet'), NOTHING).violations.map(({ message }) => message)).toEqual([
      'name is required',
      'categoryId is required',
    ]))

  it('goes over a body that was given whole, and leaves the rest of it alone', () => {
    const input = { ...NOTHING, fields: fields({ name: 'B' }) }
    const given = Buffer.from('{"name":"A","categoryId":9223372036854775807,"extra":[1]}')
    const { body, unknownFields } = buildRequest(operation('createPet'), { ...input, body: given })
    expect(Buffer.from(body ?? []).toString()).toBe('{"name":"B","categoryId":9223372036854775807,"extra":[1]}')
    expect(unknownFields).toEqual(['extra'])
  })

  it('refuses field flags with a body that is not an object', () => {
    const input = { ...NOTHING, fields: fields({ name: 'B' }) }
    for (const text of ['[1]', '1', '{', '']) {
      expect(() => buildRequest(operation('createPet'), { ...input, body: Buffer.from(text) })).toThrow('--body')
    }
  })
})

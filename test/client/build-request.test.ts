import { describe, expect, it } from 'vitest'
import { buildRequest, type CallInput, contentTypeOf, requestUrl } from '../../src/client/build-request.js'
import type { Operation } from '../../src/contract/contract.js'
import { parseJson } from '../../src/contract/json.js'
import { packagedContract } from '../../src/contract/packaged-contract.js'
import { loadContract } from '../../src/openapi/load-contract.js'
import fc from '../support/fast-check.js'
import { inQuery, list, object, text } from '../support/small-contract.js'
import { temporaryFile } from '../support/temporary-files.js'

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

describe('a contract of one’s own', () => {
  const get = { responses: { 200: { description: 'd' } } }
  const document = {
    ...{ openapi: '3.1.0', info: { title: 'Sample', version: '1' }, servers: [{ url: '/v1' }] },
    paths: {
      '/token': {
        post: {
          operationId: 'token',
          requestBody: {
            required: true,
            content: {
              'application/x-www-form-urlencoded': {
                schema: object({ grant_type: text, scope: list(text) }, ['grant_type']),
              },
            },
          },
          ...get,
        },
      },
      '/files': {
        post: {
          operationId: 'upload',
          requestBody: { content: { 'multipart/form-data': { schema: object({ name: text }) } } },
          ...get,
        },
        patch: {
          operationId: 'merge',
          requestBody: { content: { 'application/merge-patch+json': { schema: object({ name: text }) } } },
          ...get,
        },
        get: {
          operationId: 'find',
          parameters: [
            { ...inQuery('tags', list(text)), style: 'pipeDelimited', explode: false },
            { ...inQuery('names', list(text)), style: 'spaceDelimited', explode: false },
            { ...inQuery('filter', object({ status: text })), style: 'deepObject', explode: true },
          ],
          ...get,
        },
      },
    },
  }

  async function build(id: string, given: Readonly<Record<string, readonly string[]>>) {
    const { operations } = await loadContract(temporaryFile('spec.json', JSON.stringify(document)))
    const own = operations.find((one) => one.id === id)
    if (own === undefined) throw new Error(`no ${id}`)
    const named = <Of extends { readonly name: string }>(all: readonly Of[] = []) =>
      new Map(all.flatMap((one) => (given[one.name] === undefined ? [] : [[one, given[one.name] ?? []] as const])))
    const query = named(own.parameters)
    const request = buildRequest(own, { ...NOTHING, query, fields: named(own.body?.fields) })
    return { ...request, body: Buffer.from(request.body ?? []).toString(), type: contentTypeOf(own) }
  }

  it('has forms, lists and objects in the style that it documents', async () => {
    expect(await build('token', { grant_type: ['a b'], scope: ['x', 'y'] })).toMatchObject({
      ...{ body: 'grant_type=a%20b&scope=x&scope=y', type: 'application/x-www-form-urlencoded', violations: [] },
    })
    expect((await build('token', {})).violations).toMatchObject([
      { message: expect.stringMatching('grant_type is required') },
    ])
    expect(await build('merge', { name: ['a'] })).toMatchObject({
      ...{ body: '{"name":"a"}', type: 'application/merge-patch+json' },
    })
    const query = { tags: ['a', 'b'], names: ['c', 'd'], filter: ['{"status":"x y"}'] }
    expect((await build('find', query)).query).toBe('tags=a%7Cb&names=c%20d&filter[status]=x%20y')
    await expect(build('find', { filter: ['open'] })).rejects.toThrow('--filter: not valid JSON')
  })

  it('has no parts of files that flags could name', async () => {
    await expect(build('upload', { name: ['a'] })).rejects.toThrow(
      'call cannot write a body of multipart/form-data by flags',
    )
  })
})

import { expect, it } from 'vitest'
import type { Parameter } from '../../src/contract/contract-data.js'
import { FORMATS } from '../../src/contract/formats.js'
import { pairReader } from '../../src/contract/read-parameters.js'
import { readKeyAt } from '../../src/domain/key-places.js'
import type { ServiceRequest } from '../../src/domain/messages.js'
import { replaceInQuery } from '../../src/domain/other-key-places.js'

// Each took seconds to minutes, in which the sandbox answered nobody: their time was quadratic.

const parameter = (name: string, style: string, type: string) =>
  ({ name, type, in: 'query', style, explode: true, required: false, form: { types: [type] } }) as unknown as Parameter

it('many values of an object in a form are read', () => {
  const { values } = pairReader([parameter('o', 'deepObject', 'object')])(
    Array.from({ length: 100_000 }, (_, n) => ['o[]', String(n)] as const),
  )
  expect(Object.values(values.o as object)).toHaveLength(100_000)
})

it('many unknown names are listed', () => {
  const pairs = Array.from({ length: 200_000 }, (_, n) => [`n${n % 100_000}`, ''] as const)
  expect(pairReader([parameter('a', 'form', 'string')])(pairs).unknown).toHaveLength(100_000)
})

it('a long text that is no base64 is refused', () => {
  expect(FORMATS.byte?.(`${' '.repeat(1_000_000)}!`)).toBe(false)
  for (const text of ['', 'aGk=', 'aGk=\n', 'aGk = =', 'ab\ncd']) expect(FORMATS.byte?.(text)).toBe(true)
  for (const text of ['a=b', '===', 'ä']) expect(FORMATS.byte?.(text)).toBe(false)
})

it('a key is found in a long address, and in a long header', () => {
  const target = `/a?${'?'.repeat(200_000)}&key=1`
  expect(replaceInQuery(target, 'key', () => '2')).toBe(`/a?${'?'.repeat(200_000)}&key=2`)
  expect(replaceInQuery('/key=1', 'key', () => '2')).toBe('/key=1')
  const request = { target: '/', headers: { authorization: `${'a'.repeat(200_000)} b` } } as unknown as ServiceRequest
  expect(readKeyAt(request, { in: 'authorization', name: 'authorization' })).toBe('b')
})

import { expect, it } from 'vitest'
import { rootPlace } from '../../src/contract/document.js'
import { examplesOf } from '../../src/contract/mocked-bodies.js'

const text = { type: 'string' }
const problem = { type: 'object', required: ['code'], properties: { code: { ...text, example: 'E1' } } }
const object = (properties: object, required: readonly string[] = []) => ({ type: 'object', properties, required })
const errors = { type: 'array', items: problem }

function made(schema: object, status = 200): unknown {
  const [[, body] = []] = examplesOf(rootPlace({ schema }), status, true, false)
  return JSON.parse(body?.text ?? '')
}

it.each<[string, object, unknown]>([
  ['optional', object({ id: text, error: problem, errors, warnings: errors, errorMessage: text }), { id: 'string' }],
  [
    'in a list',
    object({ rows: { type: 'array', items: object({ id: text, error: text }) } }),
    { rows: [{ id: 'string' }] },
  ],
  [
    'required, and may be null',
    object({ id: text, error: { type: ['object', 'null'] } }, ['error']),
    { id: 'string', error: null },
  ],
  ['a required list', object({ id: text, errors }, ['errors']), { id: 'string', errors: [] }],
  ['with an example', object({ id: text, warning: { ...text, example: 'Low' } }), { id: 'string', warning: 'Low' }],
  ['all there is', object({ errors }), { errors: [{ code: 'E1' }] }],
])('a made-up success has no errors: %s', (_what, schema, expected) => {
  expect(made(schema)).toEqual(expected)
})

it('a made-up error has its errors', () => {
  const schema = object({ id: text, errors, error: text })
  expect(made(schema, 422)).toEqual({ id: 'string', errors: [{ code: 'E1' }], error: 'string' })
})

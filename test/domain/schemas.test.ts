import * as v from 'valibot'
import { expect, it } from 'vitest'
import { recordSchema } from '../../src/domain/schemas.js'

const NAMES = '{"__proto__":1,"constructor":2,"prototype":3,"toString":4,"a":5}'

it('an object of any names keeps every name, and leaves prototypes alone', () => {
  const read = v.parse(recordSchema(v.string(), v.pipe(v.number(), v.transform(String)), 'wrong'), JSON.parse(NAMES))
  expect(JSON.stringify(read)).toBe('{"toString":"4","a":"5","__proto__":"1","prototype":"3","constructor":"2"}')
  expect(Object.getPrototypeOf(read)).toBe(Object.prototype)
})

it.each(['__proto__', 'constructor', 'a'])(
  'an object of any names finds a wrong value of %s, with its path',
  (name) => {
    const schema = v.object({ when: recordSchema(v.string(), v.object({ b: v.number('no number') }), 'wrong') })
    const { issues = [] } = v.safeParse(schema, JSON.parse(`{"when":{"${name}":{"b":"x"}}}`))
    expect(issues.map((issue) => [v.getDotPath(issue), issue.message])).toEqual([[`when.${name}.b`, 'no number']])
  },
)

it.each(['__proto__', 'a'])('an object of any names checks the name %s', (name) => {
  const schema = recordSchema(v.pipe(v.string(), v.maxLength(0, 'too long')), v.number(), 'wrong')
  expect(v.safeParse(schema, JSON.parse(`{"${name}":1}`)).issues).toMatchObject([{ message: 'too long' }])
})

import { expect, it } from 'vitest'
import { REMOVED, removedCommand } from '../../src/domain/removed.js'
import { toKebabCase } from '../../src/options/letter-case.js'
import { envLayer } from '../../src/options/sources.js'
import { gathered, problemsOf, resolved } from './context.js'

it.each(Object.entries(REMOVED.options))(
  'names what to use instead of the removed option %s, wherever it is set',
  (name, instead) => {
    const removed = `was removed in 0.2; ${instead}`
    const variable = `PETSTORE_SANDBOX_${toKebabCase(name).replaceAll('-', '_').toUpperCase()}`
    expect(envLayer({ [variable]: 'x' }, '').warnings).toEqual([`${variable}: ignored, because it ${removed}`])
    for (const key of [name, toKebabCase(name)]) {
      const config = `${key}: x`
      expect(problemsOf(() => gathered({ config }))).toEqual([`petstore-sandbox.yaml:1:1: ${key}: ${removed}`])
    }
    expect(problemsOf(() => resolved({ [name]: 'x' }))).toEqual([`${name}: ${removed}`])
    expect(problemsOf(() => resolved({ scenario: { [name]: 'x' } }))).toEqual([`scenario: ${name}: ${removed}`])
  },
)

it.each(
  Object.entries(REMOVED.values).flatMap(([name, values]) =>
    Object.entries(values).map(([value, instead]) => ({ name, value, instead })),
  ),
)('names what to use instead of $value, a removed value of $name', ({ name, value, instead }) =>
  expect(problemsOf(() => resolved({ [name]: value }))).toEqual([`${name} "${value}": was removed in 0.2; ${instead}`]),
)

it('calls nothing removed that never existed', () => expect(removedCommand('toString')).toBeUndefined())

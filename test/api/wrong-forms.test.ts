import { describe, expect, it } from 'vitest'
import { METHODS, type MethodRow } from '../../scripts/generate-methods.js'
import { inputField, positionalFields } from '../../src/control/verb.js'
import { ControlError, connectSandbox, createSandbox, startSandbox } from '../../src/index.js'

const sandboxes = {
  'in process': await createSandbox({ seed: 1 }),
  'over the network': connectSandbox((await startSandbox({ seed: 1 })).controlUrl),
}

/** Methods that take an input. The others ignore arguments, because a test runner passes some to a hook. */
const WITH_INPUT = METHODS.filter(({ example }) => example !== undefined)

const REQUIRING = WITH_INPUT.filter(({ verb, isAlias }) => {
  const [first = ''] = positionalFields(verb)
  return !isAlias && inputField(verb, first)?.isOptional === false
})

/** Calls a method as a program without types may. */
async function refusal(controls: object, { path }: MethodRow, values: readonly unknown[]): Promise<unknown> {
  const method = path.split('.').reduce<unknown>((part, name) => Reflect.get(Object(part), name), controls)
  return (method as (...given: readonly unknown[]) => Promise<unknown>)(...values).then(
    () => 'is accepted',
    (error: unknown) => error,
  )
}

describe.each(Object.entries(sandboxes))(
  'a wrong form of a method is refused with a right one, %s',
  (_name, controls) => {
    it.each(WITH_INPUT.map((row) => [row.path, row] as const))('%s', async (_path, row) => {
      const forms: readonly (readonly unknown[])[] = [
        // An unknown field.
        [{ noSuchField: 1 }],
        // Too many arguments.
        ['a', 'b', 'c', 'd', 'e'],
        // A wrong type.
        [['x']],
      ]
      for (const values of forms) {
        const error = await refusal(controls, row, values)
        expect(error, JSON.stringify(values)).toBeInstanceOf(ControlError)
        const { code, message } = error as ControlError
        expect([code, message.endsWith(` Example: ${row.example}.`)], message).toEqual(['invalid_request', true])
        expect(message).not.toMatch(/\bmap\b|the whole|undefined/)
      }
    })

    it.each(REQUIRING.map((row) => [row.path, row] as const))('%s, without an argument', async (_path, row) => {
      const { message } = (await refusal(controls, row, [])) as ControlError
      expect(message).toMatch(/^"\w+" is missing\b/)
      expect(message).toContain(` Example: ${row.example}.`)
    })
  },
)

it('methods without an input ignore arguments', async () => {
  const { reset } = sandboxes['in process'] as { reset(...given: readonly unknown[]): Promise<unknown> }
  expect(await reset({ task: {} }, 1)).toMatchObject({ records: { pets: 60 } })
})

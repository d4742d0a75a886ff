import { expect, it } from 'vitest'
import { fixRefusal } from '../../../src/advice/fixes.js'
import { REASONS } from '../../../src/domain/problems.js'
import { control, sandboxWith } from '../test-io.js'

const COMMANDS = REASONS.flatMap((reason) => fixRefusal({ reason, key: 'sandbox-pro', wait: 90_000 })?.command ?? [])

it.each([...new Set(COMMANDS)])('%s, which the log suggests, is a command of control', async (command) => {
  expect(await control(await sandboxWith(), command)).toMatchObject({ code: 0, err: '' })
})

it('a key that is always refused has no command that would help', () => {
  const fix = { fix: 'Use another key. The sandbox always refuses this one.', command: undefined }
  expect(fixRefusal({ reason: 'ban', key: 'sandbox-banned', wait: 90_000 })).toMatchObject(fix)
  expect(fixRefusal({ reason: null, key: 'sandbox-banned' })).toBeUndefined()
})

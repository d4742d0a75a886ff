import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import { failedWith } from '../../src/store/store-error.js'
import { describeOpenError } from '../../src/system/regular-file.js'

it('knows errors of another realm by their code, such as those of Node in a test of Jest', () => {
  const error: unknown = runInNewContext('Object.assign(new Error("gone"), { code: "ENOENT" })')
  expect(error).not.toBeInstanceOf(Error)
  expect([failedWith(error, 'ENOENT'), failedWith(error, 'EEXIST'), describeOpenError(error)]).toEqual([
    true,
    false,
    'ENOENT',
  ])
  expect([failedWith(undefined, 'ENOENT'), describeOpenError(new RangeError('odd'))]).toEqual([
    false,
    'RangeError: odd',
  ])
})

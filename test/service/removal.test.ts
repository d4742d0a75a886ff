import { describe, expect, it } from 'vitest'
import { loadContract } from '../../src/openapi/load-contract.js'
import { temporaryFile } from '../support/temporary-files.js'
import { transports } from '../support/transports.js'

/** A list of an example, so that nothing is mocked. */
const LIST = 'schema: {type: array, items: {type: object, properties: {id: {type: integer}}}}, example: [{id: 1}]'
const OK = `responses: {"200": {description: ok, content: {application/json: {${LIST}}}}}`

function contract(paths: string): string {
  return temporaryFile(
    'openapi.yaml',
    `openapi: 3.1.0\ninfo: {title: Test, version: "1"}\nservers: [{url: /v1}]\npaths:\n${paths}`,
  )
}

const OPERATIONS = `
  /new: {get: {operationId: getNew, ${OK}}}
  /old: {get: {operationId: getOld, deprecated: true, x-deprecated-since: '2024-01-01', x-deprecated-sunset: '2026-02-01', x-deprecated-successor: /new, ${OK}}}
  /older: {get: {operationId: getOlder, deprecated: true, x-deprecated-sunset: '2026-02-01T12:30', ${OK}}}
  /oldest: {get: {operationId: getOldest, deprecated: true, ${OK}}}
`

describe.each(transports)('a deprecated operation of a fuller contract, %s', (_name, openSandbox) => {
  it('announces only the dates and the successor that the contract gives, until its removal', async () => {
    const sandbox = await openSandbox({ spec: contract(OPERATIONS), now: '2026-02-01T12:00:00Z', sunset: 'before' })
    const announced = async (path: string) => {
      const { headers } = await sandbox.get(path)
      return ['deprecation', 'sunset', 'link'].map((name) => headers.get(name))
    }
    expect(await announced('/old')).toEqual([
      '@1704067200',
      'Sun, 01 Feb 2026 00:00:00 GMT',
      '</v1/new>; rel="successor-version"',
    ])
    expect(await announced('/older')).toEqual([null, 'Sun, 01 Feb 2026 12:30:00 GMT', null])
    expect(await announced('/oldest')).toEqual([null, null, null])

    await sandbox.control('PATCH', '/settings', { sunset: 'auto' })
    await sandbox.advance('30m')
    const message = 'This operation has been removed. Use GET /v1/new instead.'
    expect((await sandbox.get('/old')).json).toMatchObject({ code: 'operation_removed', message })
    expect((await sandbox.get('/older')).json).toMatchObject({ message: 'This operation has been removed.' })
    expect(await sandbox.get('/oldest')).toMatchObject({ status: 200 })
  })
})

it.each([
  ...['soon', '5 December 2030', '2030-13-05', '2030-12-05 00:00'].map((date) => [
    'since',
    date,
    'a date such as 2030-12-05',
  ]),
  ['successor', '/b>; rel="next"', 'a path with its query'],
])('a contract is refused with x-deprecated-%s: %s', async (name, value, expected) => {
  const spec = contract(`  /a: {get: {x-deprecated-${name}: '${value}', ${OK}}}`)
  await expect(loadContract(spec)).rejects.toThrow(`must be ${expected}`)
})

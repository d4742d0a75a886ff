import { expect, it } from 'vitest'
import { createSandbox } from '../../src/index.js'

const sandbox = await createSandbox({ seed: 1 })

it.each([
  // Durations are not converted to milliseconds.
  ['/storm', { for: '0s' }, 'The input: "for" must be longer than 0.'],
  ['/storm', { every: '5m' }, 'The input: "every" needs "for", the length of each storm.'],
  ['/storm', { rate: 5 }, 'rate "5": must be from 0 to 1.'],
  ['/faults', {}, 'The input "{}": must be a list of faults such as listPets:503@20%*3.'],
  ['/faults', [null], '[0] "null": must be a fault such as listPets:503@20%*3.'],
  ['/faults', ['*:503', { operation: '*', fault: 'hang', times: 'x' }], '[1].times "x": must be a number.'],
  ['/scenario', { used: { sandbox: 'x/min' } }, /^scenario: used\.sandbox "x\/min": must be requests .* or all\.$/],
  ['/scenario', { name: 'strom' }, /did you mean storm\?$/],
  ['/scenario', { name: './mine.yaml' }, /^scenario ".\/mine.yaml": is not .*; to apply a file, give its content\.$/],
])('a verb reports each invalid part of its input: PUT %s %j', async (path, input, message) => {
  const request = { method: 'PUT', body: JSON.stringify(input) }
  const response = await sandbox.fetch(`http://localhost/__sandbox${path}`, request)
  expect(response.status).toBe(400)
  const told = ((await response.json()) as { message: string }).message
  expect(told).toEqual(typeof message === 'string' ? message : expect.stringMatching(message))
})

it('a misspelled setting is refused, with the name that was meant', async () => {
  const request = { method: 'PATCH', body: JSON.stringify({ paln: 'pro' }) }
  const response = await sandbox.fetch('http://localhost/__sandbox/settings', request)
  expect(await response.json()).toMatchObject({
    status: 400,
    message: expect.stringMatching(/paln.*did you mean plan\?$/),
  })
})

it.each([
  ['POST', '/docs/x', 405],
  ['POST', '/docs/cli.md', 405],
  ['GET', '/docs/x', 404],
])('%s %s gets %i', async (method, path, status) => {
  const response = await sandbox.fetch(`http://localhost/__sandbox${path}`, { method })
  expect({ status: response.status, allow: response.headers.get('allow') }).toEqual({
    status,
    allow: status === 405 ? 'GET' : null,
  })
})

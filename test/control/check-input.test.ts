import { expect, it } from 'vitest'
import { createSandbox } from '../../src/index.js'

const sandbox = await createSandbox({ seed: 1 })

async function refusal(method: string, path: string, input: unknown): Promise<string> {
  const request = new Request(`http://localhost/__sandbox${path}`, { method, body: JSON.stringify(input) })
  const response = await sandbox.fetch(request)
  expect(response.status).toBe(400)
  return ((await response.json()) as { message: string }).message
}

it.each([
  // Durations are not converted to milliseconds.
  ['PUT', '/storm', { for: '0s' }, 'The input: for must be longer than 0.'],
  ['PUT', '/storm', { every: '5m' }, 'The input: every requires for, the length of each storm.'],
  ['PUT', '/storm', { rate: 5 }, 'rate "5": must be from 0 to 1.'],
  ['PUT', '/faults', {}, 'The input "{}": must be a list of faults such as listPets:503@20%*3.'],
  ['PUT', '/faults', [null], '[0] "null": must be a fault such as listPets:503@20%*3.'],
  [
    'PUT',
    '/faults',
    ['listPets:503', { operation: 'listPets', fault: 'hang', times: 'x' }],
    '[1].times "x": must be a number.',
  ],
  ['PUT', '/scenario', { used: { sandbox: 'x/min' } }, /^scenario: used\.sandbox "x\/min": must be requests .*day\.$/],
  [
    'PUT',
    '/scenario',
    { name: './mine.yaml' },
    /^scenario ".\/mine.yaml": is not .*; to apply a file, give its content\.$/,
  ],
])('a verb reports each invalid part of its input: %s %s %j', async (method, path, input, message) => {
  expect(await refusal(method, path, input)).toEqual(
    typeof message === 'string' ? message : expect.stringMatching(message),
  )
})

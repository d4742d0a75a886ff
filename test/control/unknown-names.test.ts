import { expect, it } from 'vitest'
import { createSandbox } from '../../src/index.js'
import { readYamlMap } from '../../src/options/yaml-map.js'

type Opened = Awaited<ReturnType<typeof createSandbox>>

it.each<[what: string, act: (sandbox: Opened) => Promise<unknown>, message: string]>([
  [
    'a filter of the log',
    ({ requests }) => requests({ operation: 'lstPets' as 'listPets' }),
    'The contract has no operation "lstPets"; did you mean listPets?',
  ],
  [
    'a wait for a request',
    ({ waitForRequest }) => waitForRequest({ operation: 'lstPets' as 'listPets' }),
    'The contract has no operation "lstPets"; did you mean listPets?',
  ],
  [
    'a fault rule',
    ({ faults }) => faults.add('sing:500' as 'listPets:500'),
    'The contract has no operation "sing". Its operations are listPets, createPet, getPet, listOrders.',
  ],
  [
    'a success without a body',
    ({ faults }) => faults.add('listPets:200'),
    'a status below 400 needs a body or headers, as in getPet:200:{"id":1}',
  ],
  [
    'a function in place of a body',
    ({ faults }) => faults.add({ operation: 'getPet', fault: 'status', status: 200, body: () => ({}) }),
    'the body must be JSON, not a function; a handler can be one',
  ],
])('%s is refused with what to write instead', async (_what, act, message) => {
  await using sandbox = await createSandbox({ seed: 1 })
  await expect(act(sandbox)).rejects.toThrow(message)
})

it.each([
  ['{', 'fault: {listPets: 503\nplan: pro\n'],
  ['[', 'fault: [listPets:503\nplan: pro\n'],
])('a %s in YAML that is not closed is called that', (bracket, text) => {
  expect(readYamlMap(text, 'petstore-sandbox.yaml')).toMatchObject({
    problems: [expect.stringContaining(`a ${bracket} before it is not closed`)],
  })
})

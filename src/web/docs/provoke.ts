import { type ContractModel, mapOf, type OperationModel } from './contract-model.js'
import type { Inputs } from './sample-request.js'
import { firstInputs } from './sample-request.js'

/** How an answer is brought about. */
export interface Provocation {
  /** In words, for who wants to know what was done. */
  readonly how: string
  readonly inputs: Inputs
  /** A key of the fixtures; undefined is the chosen one. */
  readonly key?: string
  /** Value of the header Prefer. */
  readonly prefer?: string
}

/** Ids that no pet has. */
const NO_SUCH_ID = '4611686018427387904'

/**
 * How to bring about a documented answer: by the right key, by wrong input, or by asking for it.
 *
 * @param keys that the sandbox has
 * @returns undefined where a status is none that can be asked for
 */
export function provocationOf(
  contract: ContractModel,
  operation: OperationModel,
  status: string,
  keys: readonly string[],
): Provocation | undefined {
  if (!/^\d{3}$/.test(status)) return undefined
  const inputs = firstInputs(contract, operation)
  if (status === '401' && keys.includes('sandbox-revoked'))
    return { how: 'with the key sandbox-revoked, which is never valid', inputs, key: 'sandbox-revoked' }
  if (status === '429' && keys.includes('sandbox-limited'))
    return { how: 'with the key sandbox-limited, whose quota is always spent', inputs, key: 'sandbox-limited' }
  if (status.startsWith('2')) return { how: 'by what the contract gives as an example', inputs, key: keys[0] ?? '' }
  // Operations that are mocked know no pets.
  if (status === '404' && operation.id === 'getPet' && inputs.parameters.petId !== undefined)
    return {
      how: 'with an id that no pet has',
      inputs: { ...inputs, parameters: { ...inputs.parameters, petId: NO_SUCH_ID } },
      key: keys[0] ?? '',
    }
  const wrong = status === '400' ? wrongInputs(contract, operation, inputs) : undefined
  if (wrong !== undefined) return { ...wrong, key: keys[0] ?? '' }
  return { how: `by the header Prefer: code=${status}`, inputs, prefer: `code=${status}`, key: keys[0] ?? '' }
}

function wrongInputs(contract: ContractModel, operation: OperationModel, inputs: Inputs): Provocation | undefined {
  if (operation.body !== undefined) return { how: 'with an empty object as body', inputs: { ...inputs, body: '{}' } }
  for (const { name, in: place, schema } of operation.parameters) {
    const { maximum } = mapOf(contract.resolve(schema).value)
    if (place !== 'query' || (typeof maximum !== 'number' && typeof maximum !== 'bigint')) continue
    const tooMuch = String(BigInt(typeof maximum === 'number' ? Math.floor(maximum) : maximum) + 1n)
    return {
      how: `with ${name}=${tooMuch}`,
      inputs: { ...inputs, parameters: { ...inputs.parameters, [name]: tooMuch } },
    }
  }
  return undefined
}

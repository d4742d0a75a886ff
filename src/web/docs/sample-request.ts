import { stringifyJson } from '../../contract/json.js'
import type { KeyView } from '../../control/views.js'
import type { CodeRequest } from '../request-code.js'
import type { ContractModel, OperationModel } from './contract-model.js'
import { sampleOf } from './schema-words.js'

export interface Inputs {
  readonly parameters: Readonly<Record<string, string>>
  readonly body: string
}

/** Required inputs, from the contract's examples. */
export function firstInputs(contract: ContractModel, { parameters, body }: OperationModel): Inputs {
  const example = body && (body.examples[0]?.value ?? sampleOf(contract, body.schema))
  return {
    parameters: Object.fromEntries(
      parameters.map(({ name, isRequired, example, schema }) => {
        const value = example ?? sampleOf(contract, schema)
        return [name, isRequired ? (typeof value === 'string' ? value : (stringifyJson(value) ?? '')) : '']
      }),
    ),
    body: example === undefined ? '' : (stringifyJson(example, 2) ?? ''),
  }
}

/** @param key with its space; empty without a key */
export function requestOf(
  operation: OperationModel,
  inputs: Inputs,
  {
    baseUrl,
    key,
    keyHeader,
    prefer,
  }: Pick<CodeRequest, 'baseUrl' | 'keyHeader'> & { readonly key: string; readonly prefer?: string | undefined },
): CodeRequest {
  const given = (place: string) =>
    operation.parameters
      .filter(({ in: at, name }) => at === place && (inputs.parameters[name] ?? '') !== '')
      .map(({ name }): [string, string] => [name, inputs.parameters[name] ?? ''])
  const query = new URLSearchParams(given('query')).toString()
  const path = operation.path.replaceAll(/\{([^}]+)\}/g, (_, name: string) =>
    encodeURIComponent(inputs.parameters[name] ?? ''),
  )
  const body = operation.body === undefined || inputs.body === '' ? undefined : inputs.body
  return {
    method: operation.method,
    url: `${baseUrl}${path}${query === '' ? '' : `?${query}`}`,
    headers: [
      ...(body === undefined ? [] : [['Content-Type', operation.body?.mediaType ?? ''] as const]),
      ...(prefer === undefined ? [] : [['Prefer', prefer] as const]),
      ...given('header'),
    ],
    key: key === '' ? undefined : key,
    keyHeader,
    body,
    operation,
    baseUrl,
  }
}

export interface Provocation {
  /** In words, after "Provoked". */
  readonly how: string
  readonly inputs: Inputs
  readonly key: string
  readonly prefer?: string
}

const UNKNOWN_ID = '4611686018427387904'

/**
 * How to provoke a documented response: by key, by invalid input, or by `Prefer`.
 * @param keys of the sandbox
 * @returns undefined for a status that cannot be provoked, such as `default`
 */
export function provocationOf(
  contract: ContractModel,
  operation: OperationModel,
  status: string,
  keys: readonly Pick<KeyView, 'key' | 'always'>[],
): Provocation | undefined {
  if (!/^\d{3}$/.test(status)) return undefined
  const inputs = firstInputs(contract, operation)
  const { parameters } = inputs
  const key = keys[0]?.key ?? ''
  const condition = { 401: 'revoked', 429: 'limited' }[status]
  const refused = keys.find(({ always }) => always !== null && always === condition)
  if (refused !== undefined)
    return { how: `with the key ${refused.key}, which is always ${condition}`, inputs, key: refused.key }
  if (status.startsWith('2')) return { how: "with the contract's example", inputs, key }
  if (status === '404' && operation.id === 'getPet' && parameters.petId !== undefined)
    return { how: 'with an unknown pet id', inputs: { ...inputs, parameters: { petId: UNKNOWN_ID } }, key }
  if (status === '400' && operation.body !== undefined)
    return { how: 'with an empty object as body', inputs: { ...inputs, body: '{}' }, key }
  const excess = status === '400' ? excessiveParameter(contract, operation) : undefined
  if (excess !== undefined) {
    const [name, value] = excess
    return { how: `with ${name}=${value}`, inputs: { ...inputs, parameters: { ...parameters, [name]: value } }, key }
  }
  return { how: `by the header Prefer: code=${status}`, inputs, prefer: `code=${status}`, key }
}

function excessiveParameter(contract: ContractModel, { parameters }: OperationModel) {
  for (const { name, in: place, schema } of parameters) {
    const { maximum } = contract.read(schema)
    if (place !== 'query' || (typeof maximum !== 'number' && typeof maximum !== 'bigint')) continue
    return [name, String(BigInt(typeof maximum === 'number' ? Math.floor(maximum) : maximum) + 1n)] as const
  }
  return undefined
}

import type { Operation } from './contract.js'
import type { OperationData } from './contract-data.js'
import { createContract } from './create-contract.js'
import type { EngineRefusal, EngineRequest } from './engine.js'
import { parseJson } from './json.js'
import { type ContractReading, readContract } from './read-contract.js'
import { compileValidators, type Schemas, type Validator, type Validators } from './validators.js'
import { findViolations } from './violations.js'

/** What Prism, which reads numbers as doubles and hands single items on as such, lets pass. */
const OVERLOOKED = ['int64', 'maxItems', 'minItems', 'uniqueItems']

/** Finds what is wrong with a request that Prism has nothing against. */
export interface ExactReader {
  find(
    operation: Operation,
    request: EngineRequest,
    parsed: { readonly inForm: ReadonlySet<string>; readonly isJson: boolean },
  ): Promise<EngineRefusal | undefined>
}

/**
 * Makes the reader of a document's requests. Each operation's schemas are compiled when it is first asked for; what cannot be
 * compiled is left to Prism alone.
 */
export function exactReader(json: string): ExactReader {
  const reading = readAll(json)
  const known = new Map<string, Promise<Exact | undefined>>()
  return {
    async find({ id }, { path, query, body }, { inForm, isJson }) {
      if (!known.has(id)) known.set(id, compile(reading, id))
      const exact = await known.get(id)
      if (exact === undefined) return undefined
      const { contract, validators, method } = exact
      const route = contract.route(method, path)
      const inPath = route.kind === 'operation' ? route.operation.readPath(route.captured).violations : []
      if (inPath.length > 0) return { of: 'path', violations: inPath.map(({ message }) => message) }
      const inQuery = route.kind === 'operation' ? route.operation.readQuery(query).violations : []
      const inBody =
        isJson && body !== '' ? findViolations(validators[`${id}_body`], parseJson(body), 'body', new Map()) : []
      const violations = [...inQuery.filter(({ name }) => inForm.has(name.replace(/\[.*/, ''))), ...inBody]
      return violations.length === 0
        ? undefined
        : { of: 'request', violations: violations.map(({ message }) => message) }
    },
  }
}

interface Exact {
  readonly contract: ReturnType<typeof createContract>
  readonly validators: Validators
  readonly method: string
}

function readAll(json: string): ContractReading | undefined {
  try {
    return readContract(parseJson(json), { handled: 'all' })
  } catch {
    // What the sandbox does not serve by itself need not be written in a way that it could.
    return undefined
  }
}

async function compile(reading: ContractReading | undefined, id: string): Promise<Exact | undefined> {
  const operation: OperationData | undefined = reading?.data.operations.find((one) => one.id === id)
  if (reading === undefined || operation === undefined) return undefined
  const names = ['path', 'query', 'body'].map((part) => `${id}_${part}`)
  const schemas: Schemas = Object.fromEntries(Object.entries(reading.schemas).filter(([name]) => names.includes(name)))
  try {
    // A pattern without end costs this question its answer, and nobody else their time: this is Prism's thread.
    const compiled = await compileValidators(schemas, 'native')
    const validators = Object.fromEntries(
      Object.entries(compiled).map(([name, validator]) => [name, validator && onlyOverlooked(validator)]),
    )
    const data = { ...reading.data, operations: [operation] }
    return { contract: createContract(data, validators, async () => ''), validators, method: operation.method }
  } catch {
    return undefined
  }
}

function onlyOverlooked(validator: Validator): Validator {
  const only: Validator = (value) => {
    only.errors =
      validator(value) === true ? [] : (validator.errors ?? []).filter(({ keyword }) => OVERLOOKED.includes(keyword))
    return only.errors.length === 0
  }
  return only
}

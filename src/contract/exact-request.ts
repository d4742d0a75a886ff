import type { Operation } from './contract.js'
import { createContract } from './create-contract.js'
import type { EngineRefusal, EngineRequest } from './engine.js'
import { parseJson } from './json.js'
import { type ContractReading, readContract } from './read-contract.js'
import { compileValidators, findViolations, type Validator, type Validators } from './validators.js'

/** Keywords that Prism does not check exactly: it reads numbers as doubles and passes single items on as such. */
const OVERLOOKED = ['int64', 'maxItems', 'minItems', 'uniqueItems']

/** Finds violations in a request that Prism accepts. Schemas compile on first use; Prism alone checks the others. */
export function exactReader(json: string) {
  const reading = readAll(json)
  const known = new Map<string, Promise<Exact | undefined>>()
  return async (
    id: string,
    captured: readonly string[],
    { query, body }: EngineRequest,
    { inForm, isJson }: { readonly inForm: ReadonlySet<string>; readonly isJson: boolean },
  ): Promise<EngineRefusal | undefined> => {
    const compiled = known.get(id) ?? compile(reading, id)
    known.set(id, compiled)
    const exact = await compiled
    if (exact === undefined) return undefined
    const { operation, validators } = exact
    const inPath = operation.readPath(captured).violations.map(({ message }) => message)
    if (inPath.length > 0) return { of: 'path', violations: inPath }
    const violations = [
      ...operation.readQuery(query).violations.filter(({ name }) => inForm.has(name.replace(/\[.*/, ''))),
      ...(isJson && body !== '' ? findViolations(validators[`${id}_body`], parseJson(body), 'body', new Map()) : []),
    ].map(({ message }) => message)
    return violations.length === 0 ? undefined : { of: 'request', violations }
  }
}

interface Exact {
  readonly operation: Operation
  readonly validators: Validators
}

function readAll(json: string): ContractReading | undefined {
  try {
    return readContract(parseJson(json), { handled: 'requests' })
  } catch {
    // Operations that only Prism serves may be documented in ways that the sandbox cannot read.
    return undefined
  }
}

async function compile(reading: ContractReading | undefined, id: string): Promise<Exact | undefined> {
  if (reading === undefined) return undefined
  const names = ['path', 'query', 'body'].map((part) => `${id}_${part}`)
  const schemas = Object.fromEntries(Object.entries(reading.schemas).filter(([name]) => names.includes(name)))
  try {
    const compiled = await compileValidators(schemas, 'native')
    const validators = Object.fromEntries(
      Object.entries(compiled).map(([name, validator]) => [name, validator && onlyOverlooked(validator)]),
    )
    const operations = reading.data.operations.filter((one) => one.id === id)
    const [operation] = createContract({ ...reading.data, operations }, validators, async () => '').operations
    return operation && { operation, validators }
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

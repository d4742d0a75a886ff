import type { Contract } from './contract.js'
import { createContract } from './create-contract.js'
import { parseJson } from './json.js'
import { readContract } from './read-contract.js'
import { type Validator, validatorMaker } from './validators.js'

/** Keywords that Prism does not check exactly: it reads numbers as doubles and passes single items on as such. */
const OVERLOOKED = ['int64', 'maxItems', 'minItems', 'uniqueItems']

/** The contract beside Prism: its operations find only violations that Prism overlooks. */
export async function prismContract(json: string): Promise<Contract> {
  const document = parseJson(json)
  const compile = await validatorMaker('native')
  try {
    const { data, schemas } = readContract(document, { handled: 'requests' })
    const validators = Object.entries(schemas).map(([name, schema]) => {
      const lazy = compile(name, () => (typeof schema === 'function' ? schema() : schema))
      return [name, onlyOverlooked(lazy)] as const
    })
    return createContract(data, Object.fromEntries(validators), async () => json)
  } catch {
    // Operations that only Prism serves may be documented in ways that the sandbox cannot read.
    return createContract(readContract(document, { handled: 'none' }).data, {}, async () => json)
  }
}

function onlyOverlooked(validator: Validator): Validator {
  const only: Validator = (value) => {
    only.errors = mistakesOf(validator, value).filter(({ keyword }) => OVERLOOKED.includes(keyword))
    return only.errors.length === 0
  }
  return only
}

function mistakesOf(validator: Validator, value: unknown): NonNullable<Validator['errors']> {
  try {
    return validator(value) === true ? [] : (validator.errors ?? [])
  } catch {
    // Prism alone checks against a schema that does not compile.
    return []
  }
}

import { messageOf } from '../system/message-of.js'
import { readRegularFile } from '../system/regular-file.js'
import { loadYaml } from '../system/yaml.js'
import type { Contract } from './contract.js'
import { createContract } from './create-contract.js'
import { contractData } from './generated/contract-data.js'
import { stringifyJson } from './json.js'
import { MOST_CHARACTERS, parseDocument } from './parse-document.js'
import { readPetRules } from './pet-rules.js'
import { readContract } from './read-contract.js'
import { SpecError } from './spec-error.js'
import { compileValidators } from './validators.js'

/** The operations with a handler: those of the packaged contract. */
const HANDLED = contractData.operations.map(({ id }) => id)

export interface LoadOptions {
  /** Operations whose parameters and bodies are read; a sandbox leaves others to Prism, a client calls them all. */
  readonly handled?: readonly string[] | 'all'
  /** Whether the sandbox serves it, and must be able to keep its pets; a client only sends and checks. */
  readonly keepsPets?: boolean
  /** Operations that Prism is to answer, so that nothing is asked of them. */
  readonly mocked?: readonly string[]
  /** How errors name the file; its path if not given. */
  readonly name?: string
  /** Native ones may take for ever; for whoever checks only what the user himself wrote. */
  readonly patterns?: 'linear' | 'native'
}

/**
 * Loads the contract given with --spec: OpenAPI 3.0 or 3.1, YAML or JSON, in one file.
 * Plans that it does not state are those of the packaged contract.
 *
 * @throws SpecError naming the file and the place in it
 */
export async function loadContract(
  file: string,
  { handled = HANDLED, keepsPets = true, mocked = [], name = file, patterns = 'linear' }: LoadOptions = {},
): Promise<Contract> {
  const text = textOf(file, name)
  const document = await parseDocument(name, text)
  try {
    const read = handled === 'all' ? handled : handled.filter((id) => !mocked.includes(id))
    const { data, schemas } = readContract(document, { handled: read, plans: contractData.plans })
    const validators = await compileValidators(schemas, patterns)
    const json = stringifyJson(document, 2)
    const isJson = /^\s*\{/.test(text)
    const textIn = async (format: 'yaml' | 'json') => {
      if (format === 'json') return json
      return isJson ? loadYaml().stringify(document) : text
    }
    const contract = createContract(data, validators, textIn, mocked)
    return !keepsPets ? contract : { ...contract, pets: await readPetRules(document, patterns, mocked) }
  } catch (error) {
    throw new SpecError(`${name}: ${messageOf(error)}`, { cause: error })
  }
}

/** What is larger has too many characters in any encoding; it is refused before it is read. */
const LARGEST_FILE = 4 * MOST_CHARACTERS

function textOf(file: string, name: string): string {
  try {
    return readRegularFile(file, LARGEST_FILE).toString()
  } catch (error) {
    throw new SpecError(`${name} cannot be read: ${messageOf(error)}`)
  }
}

import { messageOf } from '../system/message-of.js'
import { readRegularFile } from '../system/regular-file.js'
import { loadYaml } from '../system/runtime.js'
import type { Contract } from './contract.js'
import { createContract } from './create-contract.js'
import { contractData } from './generated/contract-data.js'
import { stringifyJson } from './json.js'
import { MAX_CHARACTERS, parseDocument } from './parse-document.js'
import { readContract } from './read-contract.js'
import { readRecordRules } from './record-rules.js'
import { SpecError } from './spec-error.js'
import { validatorMaker } from './validators.js'

export interface LoadOptions {
  /** Operations whose parameters and bodies are read. Default: those that the sandbox serves from its state. */
  readonly handled?: 'stateful' | 'all'
  /** Whether the sandbox serves it, so its pets must be storable. Default: true. */
  readonly keepsPets?: boolean
  /** Operations that Prism mocks, which are not checked. */
  readonly mocked?: readonly string[]
  /** The name of the file in errors; default: its path. */
  readonly name?: string
  /** `native` for the user's own contracts only: matching may never end. */
  readonly patterns?: 'linear' | 'native'
}

/** YAML or JSON, in one file. Plans default to the packaged ones. @throws SpecError naming the file and the place in it */
export async function loadContract(file: string, options: LoadOptions = {}): Promise<Contract> {
  const { name = file } = options
  return await readContractText(textOf(file, name), { ...options, name })
}

/** @throws SpecError naming the place in the text */
export async function readContractText(
  text: string,
  {
    handled = 'stateful',
    keepsPets = true,
    mocked = [],
    name,
    patterns = 'linear',
  }: LoadOptions & { readonly name: string },
): Promise<Contract> {
  const document = await parseDocument(name, text)
  try {
    const { data, schemas } = readContract(document, { handled, mocked, plans: contractData.plans })
    const compile = await validatorMaker(patterns)
    const validators = Object.fromEntries(
      Object.entries(schemas).map(([name, schema]) => [name, compile(name, schema)]),
    )
    const json = stringifyJson(document, 2)
    const isJson = /^\s*\{/.test(text)
    const textIn = async (format: 'yaml' | 'json') => {
      if (format === 'json') return json
      return isJson ? loadYaml().stringify(document) : text
    }
    const contract = createContract(data, validators, textIn, mocked)
    if (!keepsPets) return contract
    return { ...contract, rules: await readRecordRules(document, data, mocked) }
  } catch (error) {
    throw new SpecError(`${name}: ${messageOf(error)}`, { cause: error })
  }
}

const ADDRESS = /(?:^|[\\/])(https?:)[\\/]/

/** A larger file has too many characters in any encoding. */
const MAX_FILE_BYTES = 4 * MAX_CHARACTERS

function textOf(file: string, name: string): string {
  try {
    return readRegularFile(file, MAX_FILE_BYTES).toString()
  } catch (error) {
    const [, address] = ADDRESS.exec(file) ?? []
    if (address === undefined) throw new SpecError(`${name} cannot be read: ${messageOf(error)}`)
    throw new SpecError(`${name} is part of an address (${address}…), not a file. Download it and name the file.`)
  }
}

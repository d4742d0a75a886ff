import { openapiFile } from '../system/package-files.js'
import { readRegularFile } from '../system/regular-file.js'
import type { Contract } from './contract.js'
import { createContract } from './create-contract.js'
import { contractData } from './generated/contract-data.js'
import * as validators from './generated/validators.js'
import { stringifyJson } from './json.js'

let contract: Contract | undefined

/** The contract that ships with the package, read and compiled at build time. */
export function packagedContract(): Contract {
  contract ??= createContract(contractData, validators, textOfPackaged)
  return contract
}

async function textOfPackaged(format: 'yaml' | 'json'): Promise<string> {
  const text = readRegularFile(openapiFile).toString()
  if (format === 'yaml') return text
  const { parseDocument } = await import('./parse-document.js')
  return stringifyJson(await parseDocument(openapiFile, text), 2)
}

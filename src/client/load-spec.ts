import { readFile } from 'node:fs/promises'
import type { Contract } from '../contract/contract.js'
import { createContract } from '../contract/create-contract.js'
import { stringifyJson } from '../contract/json.js'
import { packagedContract } from '../contract/packaged-contract.js'
import { parseDocument } from '../contract/parse-document.js'
import { readContract } from '../contract/read-contract.js'
import { SpecError } from '../contract/spec-error.js'
import { compileValidators } from '../contract/validators.js'

/**
 * Loads the contract given with --spec, with the parameters and bodies of every
 * operation: a client calls those, too, that a sandbox leaves to Prism.
 *
 * @throws SpecError naming the file and the place in it
 */
export async function loadSpec(file: string, name: string): Promise<Contract> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new SpecError(`${name} cannot be read: ${error.message}`)
  })
  try {
    const document = await parseDocument(name, text)
    const { data, schemas } = readContract(document, { handled: 'all', plans: packagedContract().plans })
    const json = stringifyJson(document, 2)
    return createContract(data, await compileValidators(schemas), async (format) => {
      if (format === 'json') return json
      return /^\s*\{/.test(text) ? (await import('yaml')).stringify(document) : text
    })
  } catch (error) {
    if (error instanceof SpecError && error.message.startsWith(name)) throw error
    throw new SpecError(`${name}: ${error instanceof Error ? error.message : error}`, { cause: error })
  }
}

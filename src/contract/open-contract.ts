import type { Contract } from './contract.js'
import type { LoadOptions } from './load-contract.js'
import { packagedContract } from './packaged-contract.js'

/**
 * The contract of a file, or the packaged one.
 *
 * @throws SpecError if the file cannot be served
 */
export async function openContract(file: string | undefined, options?: LoadOptions): Promise<Contract> {
  if (file === undefined) return packagedContract()
  const { loadContract } = await import('./load-contract.js')
  return loadContract(file, options)
}

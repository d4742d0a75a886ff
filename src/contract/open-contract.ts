import { openapiFile } from '../system/package-files.js'
import type { Contract } from './contract.js'
import type { LoadOptions } from './load-contract.js'
import { packagedContract } from './packaged-contract.js'

/**
 * The contract of a file, or the packaged one; that is read from its file only where some of it is to be mocked.
 *
 * @throws SpecError if the file cannot be served
 */
export async function openContract(file: string | undefined, options?: LoadOptions): Promise<Contract> {
  const isRead = file !== undefined || (options?.mocked?.length ?? 0) > 0
  if (!isRead) return packagedContract()
  const { loadContract } = await import('./load-contract.js')
  return loadContract(file ?? openapiFile, options)
}

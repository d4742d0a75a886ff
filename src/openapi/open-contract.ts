import type { Contract } from '../contract/contract.js'
import { packagedContract } from '../contract/packaged-contract.js'
import { openapiFile } from '../system/package-files.js'
import type { LoadOptions } from './read-text.js'

/** @param file default: the packaged contract, parsed only if operations are mocked @throws SpecError */
export async function openContract(file: string | undefined, options?: LoadOptions): Promise<Contract> {
  const isRead = file !== undefined || (options?.mocked?.length ?? 0) > 0
  if (!isRead) return packagedContract()
  const { loadContract } = await import('./load-contract.js')
  return { ...(await loadContract(file ?? openapiFile, options)), isPackaged: file === undefined }
}

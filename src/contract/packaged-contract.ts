import { digestOf } from '../system/runtime.js'
import type { Contract } from './contract.js'
import { createContract } from './create-contract.js'
import { contractData } from './generated/contract-data.js'
import * as validators from './generated/validators.js'
import { packagedDocument, packagedText } from './packaged-text.js'

let contract: Contract | undefined

export function packagedContract(): Contract {
  contract ??= {
    ...createContract(contractData, validators, { document: packagedDocument, text: packagedText }),
    isPackaged: true,
  }
  return contract
}

/** ETag of the packaged contract, regardless of its servers. */
export async function packagedTag(): Promise<string> {
  return `W/"${digestOf(await packagedText('yaml'))}"`
}

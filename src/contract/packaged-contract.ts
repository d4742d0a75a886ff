import { digestOf } from '../system/runtime.js'
import type { Contract, RecordRules } from './contract.js'
import { createContract } from './create-contract.js'
import { contractData } from './generated/contract-data.js'
import * as validators from './generated/validators.js'
import { packagedDocument, packagedText } from './packaged-text.js'
import { findViolations, type Validators } from './validators.js'

let contract: Contract | undefined

export function packagedContract(): Contract {
  contract ??= {
    ...createContract(contractData, validators, { document: packagedDocument, text: packagedText }),
    rules: new Map(contractData.resources.map(({ name }) => [name, rulesOf(name)])),
    isPackaged: true,
  }
  return contract
}

function rulesOf(resource: string): RecordRules {
  const validator = (validators as Validators)[`${resource}_record`]
  return {
    record: undefined,
    findViolations: (record) => findViolations(validator, record, 'body').map(({ message }) => message),
  }
}

/** ETag of the packaged contract, regardless of its servers. */
export async function packagedTag(): Promise<string> {
  return `W/"${digestOf(await packagedText('yaml'))}"`
}

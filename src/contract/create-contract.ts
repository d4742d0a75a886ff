import type { Contract, Operation, Reading, Values } from './contract.js'
import type { ContractData, OperationData } from './contract-data.js'
import { bodyReader } from './read-body.js'
import { pathReader, queryReader } from './read-parameters.js'
import { createRouter } from './router.js'
import type { Validators } from './validators.js'

const NOTHING_READ: Reading<Values> = Object.freeze({
  values: Object.freeze({}),
  violations: Object.freeze([]),
  unknown: Object.freeze([]),
})

/** Brings a contract's data to life. @param mocked ids of the operations that Prism is to answer, whatever the sandbox can do */
export function createContract(
  data: ContractData,
  validators: Validators,
  text: Contract['text'],
  mocked: readonly string[] = [],
): Contract {
  const operations = data.operations.map((operation) => ({
    ...createOperation(operation, validators),
    isMocked: mocked.includes(operation.id),
  }))
  return { ...data, operations, route: createRouter(operations), text }
}

function createOperation(data: OperationData, validators: Validators): Omit<Operation, 'isMocked'> {
  const { id, parameters, body } = data
  const inPath = parameters.filter((parameter) => parameter.in === 'path')
  const inQuery = parameters.filter((parameter) => parameter.in === 'query')
  return {
    ...data,
    responses: new Map(data.responses.map((response) => [response.status, response])),
    takesBody: body !== undefined,
    readQuery: queryReader(inQuery, validators[`${id}_query`]),
    readPath: pathReader(inPath, validators[`${id}_path`]),
    readBody: body === undefined ? () => NOTHING_READ : bodyReader(body, validators[`${id}_body`]),
  }
}

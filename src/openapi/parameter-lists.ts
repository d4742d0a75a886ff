import { PARAMETER } from '../contract/names.js'
import { typeOf } from '../contract/schema-fields.js'
import { grouped, type OperationShape, success } from './operations.js'
import { returnedRecord, unwrapList } from './record-schema.js'

/** `/stock/{warehouse}` as a list, if `/stock/{warehouse}/{sku}` has its records. */
export function withParameterLists(operations: readonly OperationShape[]): readonly OperationShape[] {
  const pathOf = ({ collection, parameter }: OperationShape) => `${collection}/{${parameter}}`
  const byPath = grouped(operations, (shape) => (shape.parameter === undefined ? shape.collection : pathOf(shape)))
  const lists = new Set<string>()
  for (const [path, below] of byPath) {
    const [, before = ''] = /^(.+\/\{[^{}]*\})\/\{[^{}]*\}$/.exec(path) ?? []
    const list = byPath.get(before)?.find(({ effect }) => effect === 'get')
    const schema = list && success(list.place)?.schema
    if (schema === undefined) continue
    const items = unwrapList(schema, before)?.items?.value
    const isOf = below.some((shape) => items !== undefined && returnedRecord(shape, before)?.value === items)
    if (isOf || typeOf(schema) === 'array') lists.add(before)
  }
  if (lists.size === 0) return operations
  return operations.map((shape) => {
    const { collection, parameter } = shape
    if (parameter !== undefined && lists.has(pathOf(shape)))
      return { ...shape, collection: pathOf(shape), parameter: undefined }
    const at = collection.lastIndexOf('/')
    const [, own] = PARAMETER.exec(collection.slice(at + 1)) ?? []
    return own !== undefined && lists.has(collection.slice(0, at))
      ? { ...shape, collection: collection.slice(0, at), parameter: own }
      : shape
  })
}

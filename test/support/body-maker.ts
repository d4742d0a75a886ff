import { readFileSync } from 'node:fs'
import type { Contract, Values } from '../../src/contract/contract.js'
import { isNode, jsonContent, type Place, rootPlace } from '../../src/contract/document.js'
import { drawnValue } from '../../src/contract/example-value.js'
import { parseDocument } from '../../src/contract/parse-document.js'
import { readRecordFields } from '../../src/contract/schema-fields.js'
import type { RandomStream } from '../../src/domain/random.js'
import { recordPlace } from '../../src/openapi/record-rules.js'

const MAX_ATTEMPTS = 50

/**
 * Makes request bodies, by operation, for those with a body. They match the schema of the request, and most of them that
 * of the responses.
 */
export async function bodyMakers(file: string, { operations }: Contract, random: RandomStream) {
  const root = rootPlace(await parseDocument(file, readFileSync(file, 'utf8')))
  const placeOf = (path: string, method: string) => root.child('paths')?.child(path)?.child(method.toLowerCase())
  const generated = (schema: Place) => drawnValue(schema, Math.floor(random.next() * 1000), random)
  return new Map(
    operations.flatMap((operation) => {
      const { id, method, path, action } = operation
      const schema = jsonContent(placeOf(path, method)?.child('requestBody'))?.content.child('schema')
      if (schema === undefined) return []
      const [response] = operations.flatMap((one) => {
        const place = placeOf(one.path, one.method)
        const isOfRecord = one.action?.resource === action?.resource && one.action?.kind !== 'list'
        return isOfRecord && one.action && place ? (recordPlace(place, one.action) ?? []) : []
      })
      const fields = response === undefined ? [] : [...readRecordFields(response)]
      const makeOne = () => {
        const body = generated(schema)
        const record = action?.bodyEnvelope === undefined ? body : Object(body)[action.bodyEnvelope]
        if (!isNode(record) || random.next() < 0.2) return body
        const values = fields.flatMap(([name, { place }]) =>
          name in record ? [[name, generated(place)] as const] : [],
        )
        const changed = { ...record, ...Object.fromEntries(values) }
        return action?.bodyEnvelope === undefined ? changed : { ...Object(body), [action.bodyEnvelope]: changed }
      }
      const make = () => {
        let body = makeOne()
        for (let i = 0; i < MAX_ATTEMPTS && operation.checkBody(Object(body) as Values).length > 0; i++)
          body = makeOne()
        return body
      }
      return [[id, { make }] as const]
    }),
  )
}

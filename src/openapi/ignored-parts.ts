import { isNode, type Place } from '../contract/document.js'
import { METHODS, type OperationShape, parametersOf } from './operations.js'
import { LOCATIONS, TEMPLATE_PARAMETER } from './parameters.js'

/** @source OpenAPI specification 3.2: Path Item Object */
const ITEM_KEYS = /^(?:x-.*|\$ref|summary|description|parameters|servers|query|additionalOperations)$/

/** Names that OpenAPI gives no meaning, most of them mistyped. */
export function ignoredNotes(root: Place, shapes: readonly OperationShape[]): readonly string[] {
  const methods = root.children('paths').flatMap(([, { name, value }]) =>
    Object.entries(Object(value))
      .filter(([key, part]) => isNode(part) && !METHODS.includes(key) && !ITEM_KEYS.test(key))
      .map(([key]) => ignored(`${name}.${key}`, 'it is not a method')),
  )
  const parameters = shapes.flatMap((shape) =>
    parametersOf(shape).flatMap((parameter) => {
      const [name, location] = [parameter.string('name'), parameter.string('in') ?? '']
      if (!LOCATIONS.some((known) => known === location))
        return [ignored(parameter.name, `in is "${location}", not one of ${LOCATIONS.join(', ')}`)]
      const inPath = [...shape.path.matchAll(TEMPLATE_PARAMETER)].map(([, text]) => text)
      const isUnused = location === 'path' && !inPath.includes(name)
      return isUnused ? [ignored(parameter.name, `the path ${shape.path} has no {${name}}`)] : []
    }),
  )
  return [...new Set([...methods, ...parameters])]
}

function ignored(place: string, why: string): string {
  return `${place} is ignored: ${why}.`
}

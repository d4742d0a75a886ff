import { asList, asMap, asText, type JsonMap, resolve } from '../contract-parts.js'

/**
 * The first GET of a contract, as path and query, with the examples of its required parameters. One whose parameters have
 * examples comes before one that needs made-up values, which may not exist.
 */
export function sampleTarget(contract: JsonMap): string | undefined {
  const targets = Object.entries(asMap(contract.paths)).flatMap(([path, item]) => {
    const { get, parameters: shared } = asMap(item)
    const operation = asMap(get)
    if (get === undefined) return []
    const required = [...asList(shared), ...asList(operation.parameters)]
      .map((given) => resolve(contract, given))
      .filter((parameter) => parameter.required === true)
    const values = new Map(required.map((parameter) => [asText(parameter.name), exampleOf(contract, parameter)]))
    const isKnown = [...values.values()].every((value) => value !== undefined)
    const value = (name: string) => String(values.get(name) ?? 1)
    const query = required.filter((parameter) => parameter.in === 'query').map(({ name }) => asText(name))
    const search = new URLSearchParams(query.map((name) => [name, value(name)])).toString()
    const filled = path.replace(/\{(.*?)\}/g, (_, name) => encodeURIComponent(value(name)))
    return [{ target: filled + (search && `?${search}`), isKnown: isKnown && operation.deprecated !== true }]
  })
  return (targets.find(({ isKnown }) => isKnown) ?? targets[0])?.target
}

function exampleOf(contract: JsonMap, parameter: JsonMap): unknown {
  const schema = resolve(contract, parameter.schema)
  const [named] = Object.values(asMap(parameter.examples))
  const [listed, allowed] = [asList(schema.examples)[0], asList(schema.enum)[0]]
  return parameter.example ?? resolve(contract, named).value ?? schema.example ?? listed ?? schema.default ?? allowed
}

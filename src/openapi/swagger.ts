import { upgradeFromTwoToThree } from '@scalar/openapi-upgrader/2.0-to-3.0'
import { isNode, type Node } from '../contract/json.js'

// Loaded late: few documents are Swagger 2.0.

/** Converts Swagger 2.0 to OpenAPI 3.0. Throws if it cannot. */
export function upgradeSwagger(document: Node): Node {
  const plain = withPlainForms(document)
  const required = Object.entries(Object(plain.paths) as Node).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const { parameters }: Node = Object(Object(item)[method])
      const isRequired =
        Array.isArray(parameters) && parameters.some((parameter) => isField(parameter) && parameter.required === true)
      return isRequired ? [[path, method] as const] : []
    }),
  )
  const upgraded = upgradeFromTwoToThree(plain)
  // The body of a form is, if one of its fields is.
  for (const [path, method] of required) {
    const { requestBody } = Object(Object(upgraded.paths)[path])[method]
    if (isNode(requestBody)) Object.assign(requestBody, { required: true })
  }
  return upgraded
}

function isField(value: unknown): value is Node {
  return isNode(value) && value.in === 'formData'
}

/** Swagger 2.0 alone can say that a text may not be empty in a request. */
function withoutEmpty(value: unknown): unknown {
  const isText = isNode(value) && value.type === 'string' && value.allowEmptyValue === false
  return isText && value.minLength === undefined && value.enum === undefined ? { ...value, minLength: 1 } : value
}

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch']
/** A range such as application/*, which is no media type of a response. */
const RANGE = /\*/

/** What the converter does not read: shared parameters that are bodies or fields of forms, and examples of any media type. */
function withPlainForms(document: Node): Node {
  const shared: Node = Object(document.parameters)
  const isPart = (value: unknown) => isField(value) || (isNode(value) && value.in === 'body')
  const asParameters = (list: unknown): readonly unknown[] =>
    [list ?? []].flat().map((value) => {
      const name = isNode(value) ? /^#\/parameters\/(.+)$/.exec(String(value.$ref))?.[1] : undefined
      return withoutEmpty(name !== undefined && isPart(shared[name]) ? structuredClone(shared[name]) : value)
    })
  const asResponse = (response: unknown, types: readonly unknown[]) => {
    const { schema, examples }: Node = Object(response)
    const [type] = types.length > 0 ? types : ['application/json']
    const [range] = isNode(examples) ? Object.keys(examples).filter((key) => RANGE.test(key)) : []
    if (range === undefined) return response
    const { [range]: example, ...others }: Node = Object(examples)
    return {
      ...Object(response),
      ...(schema === undefined ? {} : { schema }),
      examples: { [String(type)]: example, ...others },
    }
  }
  const asOperation = (operation: Node, around: readonly unknown[]) => {
    const types = [operation.produces ?? document.produces ?? []].flat()
    const own = asParameters(operation.parameters)
    const same = (value: unknown) => (other: unknown) => String(Object(other).name) === String(Object(value).name)
    const inherited = around.filter((value) => isPart(value) && !own.some(same(value)))
    const responses = map(Object(operation.responses), (response) => asResponse(response, types))
    return { ...operation, parameters: [...own, ...inherited], responses }
  }
  const paths = map(Object(document.paths), (path) => {
    if (!isNode(path)) return path
    const around = asParameters(path.parameters)
    return {
      ...map(path, (value, key) => (METHODS.includes(key) && isNode(value) ? asOperation(value, around) : value)),
      ...(path.parameters === undefined ? {} : { parameters: around.filter((value) => !isPart(value)) }),
    }
  })
  const parameters = Object.fromEntries(Object.entries(shared).filter(([, one]) => !isPart(one)))
  return { ...document, paths, ...(document.parameters === undefined ? {} : { parameters }) }
}

function map(node: Node, make: (value: unknown, key: string) => unknown): Node {
  return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, make(value, key)]))
}

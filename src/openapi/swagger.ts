import { upgradeFromTwoToThree } from '@scalar/openapi-upgrader/2.0-to-3.0'
import { isNode, type Node } from '../contract/json.js'

// Loaded late: few documents are Swagger 2.0.

/** Converts Swagger 2.0 to OpenAPI 3.0. Throws if it cannot. */
export function upgradeSwagger(document: Node): Node {
  const plain = withPlainForms(document)
  const required = Object.entries(Object(plain.paths) as Node).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const { parameters }: Node = Object(Object(item)[method])
      const isRequired = Array.isArray(parameters) && parameters.some((one) => isField(one) && one.required === true)
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

function isField(one: unknown): one is Node {
  return isNode(one) && one.in === 'formData'
}

/** Swagger 2.0 alone can say that a text may not be empty in a request. */
function withoutEmpty(one: unknown): unknown {
  const isText = isNode(one) && one.type === 'string' && one.allowEmptyValue === false
  return isText && one.minLength === undefined && one.enum === undefined ? { ...one, minLength: 1 } : one
}

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch']
/** A range such as application/*, which is no media type of a response. */
const RANGE = /\*/

/** What the converter does not read: shared parameters that are bodies or fields of forms, and examples of any media type. */
function withPlainForms(document: Node): Node {
  const shared: Node = Object(document.parameters)
  const isPart = (one: unknown) => isField(one) || (isNode(one) && one.in === 'body')
  const asParameters = (list: unknown): readonly unknown[] =>
    [list ?? []].flat().map((one) => {
      const name = isNode(one) ? /^#\/parameters\/(.+)$/.exec(String(one.$ref))?.[1] : undefined
      return withoutEmpty(name !== undefined && isPart(shared[name]) ? structuredClone(shared[name]) : one)
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
    const same = (one: unknown) => (other: unknown) => String(Object(other).name) === String(Object(one).name)
    const inherited = around.filter((one) => isPart(one) && !own.some(same(one)))
    const responses = map(Object(operation.responses), (response) => asResponse(response, types))
    return { ...operation, parameters: [...own, ...inherited], responses }
  }
  const paths = map(Object(document.paths), (path) => {
    if (!isNode(path)) return path
    const around = asParameters(path.parameters)
    return {
      ...map(path, (one, key) => (METHODS.includes(key) && isNode(one) ? asOperation(one, around) : one)),
      ...(path.parameters === undefined ? {} : { parameters: around.filter((one) => !isPart(one)) }),
    }
  })
  const parameters = Object.fromEntries(Object.entries(shared).filter(([, one]) => !isPart(one)))
  return { ...document, paths, ...(document.parameters === undefined ? {} : { parameters }) }
}

function map(node: Node, make: (value: unknown, key: string) => unknown): Node {
  return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, make(value, key)]))
}

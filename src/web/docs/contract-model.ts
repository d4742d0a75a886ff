import { decodePercent } from '../../contract/query.js'
import type { OperationsView } from '../../control/views.js'

export type JsonMap = Record<string, unknown>

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace']
/** Limits references, which may form a cycle. */
const MAX_HOPS = 20

export type ContractModel = ReturnType<typeof readContract>
export type OperationModel = ContractModel['operations'][number]
export type BodyModel = NonNullable<OperationModel['body']>

/** @param mocked the operations that the sandbox mocks, and why */
export function readContract(document: JsonMap, mocked: OperationsView['mocked'] = []) {
  const whyMocked = new Map(mocked.map(({ operation, reason }) => [operation, reason]))

  /** @returns the target of a reference, and the last name on the way */
  function resolve(given: unknown): { readonly value: unknown; readonly name: string | undefined } {
    let value = given
    let name: string | undefined
    for (let hops = 0; hops < MAX_HOPS && isMap(value) && typeof value.$ref === 'string'; hops++) {
      const { $ref, ...beside } = value as JsonMap & { readonly $ref: string }
      if (!$ref.startsWith('#/')) return { value: {}, name: $ref }
      const parts = $ref
        .slice(2)
        .split('/')
        .map((part) => decodePercent(part).replaceAll('~1', '/').replaceAll('~0', '~'))
      name = parts.at(-1)
      const target: unknown = parts.reduce<unknown>((at, part) => asMap(at)[part], document)
      // Without siblings of the reference, the target keeps its identity.
      value = isMap(target) && Object.keys(beside).length > 0 ? { ...target, ...beside } : target
    }
    return { value, name }
  }

  /** Resolves to an object; empty for anything else. */
  const read = (given: unknown): JsonMap => asMap(resolve(given).value)

  function readExamples({
    example,
    examples,
  }: JsonMap): readonly { readonly title: string; readonly value: unknown }[] {
    const named = Object.entries(asMap(examples)).map(([name, given]) => {
      const { summary, value } = read(given)
      return { title: asText(summary) || name, value }
    })
    return example === undefined ? named : [{ title: 'Example', value: example }, ...named]
  }

  function readBody({ content, required }: JsonMap) {
    const all = Object.entries(asMap(content))
    const [mediaType, given] = all.find(([type]) => /[/+]json\b/.test(type)) ?? all[0] ?? []
    if (mediaType === undefined) return undefined
    const media = asMap(given)
    return { mediaType, schema: media.schema, examples: readExamples(media), isRequired: required === true }
  }

  function readParameter(given: unknown) {
    const { name, in: place, required, description, ...parameter } = read(given)
    return {
      name: asText(name),
      in: asText(place),
      isRequired: required === true,
      description: asText(description),
      schema: parameter.schema ?? Object.values(asMap(parameter.content)).map((media) => asMap(media).schema)[0],
      example: readExamples(parameter)[0]?.value,
    }
  }

  function readOperation(path: string, method: string, operation: JsonMap, shared: JsonMap) {
    const { operationId, summary, description, tags } = operation
    const id = asText(operationId) || method.toUpperCase() + path
    const reason = whyMocked.get(id)
    const parameters = [...asList(shared.parameters), ...asList(operation.parameters)].map(readParameter)
    return {
      id,
      method: method.toUpperCase(),
      path,
      tag: asText(asList(tags)[0]),
      title: asText(summary),
      description: asText(description),
      markers: [
        ...markersOf(operation),
        ...(reason === undefined ? [] : [{ kind: 'mocked', text: 'mocked', detail: reason } as const]),
      ],
      successor: asText(operation['x-deprecated-successor']),
      isSendable: operation['x-hideTryItPanel'] !== true,
      // Parameters of the operation replace parameters of its path.
      parameters: [
        ...new Map(parameters.map((parameter) => [`${parameter.in} ${parameter.name}`, parameter])).values(),
      ],
      body: readBody(read(operation.requestBody)),
      responses: Object.entries(asMap(operation.responses)).map(([status, given]) => {
        const response = read(given)
        return {
          status,
          description: asText(response.description),
          /** Choice of the sandbox where the specification is silent. */
          choice: asText(response['x-sandbox-choice']),
          headers: Object.entries(asMap(response.headers)).map(([name, header]) => ({
            name,
            description: asText(read(header).description),
          })),
          body: readBody(response),
        }
      }),
    }
  }

  const { title, version, summary, description } = asMap(document.info)
  return {
    document,
    resolve,
    read,
    title: asText(title),
    version: asText(version),
    description: [asText(summary), asText(description)].filter(Boolean).join('\n\n'),
    operations: Object.entries(asMap(document.paths)).flatMap(([path, given]) => {
      const shared = read(given)
      const methods = METHODS.filter((method) => isMap(shared[method]))
      return methods.map((method) => readOperation(path, method, asMap(shared[method]), shared))
    }),
  }
}

export function markersOf(operation: JsonMap) {
  const { 'x-deprecated-sunset': sunset, 'x-stability': stability, deprecated } = operation
  const removal = asText(sunset) === '' ? '' : `, removed on ${dayText(asText(sunset))}`
  return [
    ...(removal !== '' || deprecated === true
      ? [{ kind: 'deprecated', text: `Deprecated${removal}`, detail: '' } as const]
      : []),
    ...(asText(stability) === '' ? [] : [{ kind: 'stability', text: asText(stability), detail: '' } as const]),
  ]
}

const DAY = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' })

/** `5 December 2030` for `2030-12-05`; other text unchanged. */
function dayText(text: string): string {
  const at = Date.parse(/^\d{4}-\d{2}-\d{2}/.exec(text)?.[0] ?? '')
  return Number.isNaN(at) ? text : DAY.format(at)
}

/** Name, requests a minute, requests a day, from `x-plans`. */
export function planRows(plans: unknown): readonly (readonly string[])[] {
  const limit = (value: unknown) => (typeof value === 'number' ? value.toLocaleString('en') : String(value ?? ''))
  return Object.entries(asMap(plans)).map(([name, plan]) => {
    const { requestsPerMinute, requestsPerDay } = asMap(plan)
    return [name.charAt(0).toUpperCase() + name.slice(1), limit(requestsPerMinute), limit(requestsPerDay)]
  })
}

export interface Place {
  readonly id: string
  readonly title: string
  readonly text: string
}

export function placeOf({ method, path, parameters, responses, ...operation }: OperationModel, words = ''): Place {
  const { id, title, description, tag } = operation
  const named = [...parameters.map(({ name, description: text }) => `${name} ${text}`)]
  const answered = [...responses.map(({ status, description: text }) => `${status} ${text}`)]
  const text = [id, title, description, tag, ...named, ...answered, words].join(' ')
  return { id, title: `${method} ${path}`, text }
}

export function search(places: readonly Place[], query: string): readonly Place[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean)
  return places.filter(({ text, title }) => {
    const searched = `${title} ${text}`.toLowerCase()
    return words.every((word) => searched.includes(word))
  })
}

function isMap(value: unknown): value is JsonMap {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function asMap(value: unknown): JsonMap {
  return isMap(value) ? value : {}
}

export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

export function asText(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

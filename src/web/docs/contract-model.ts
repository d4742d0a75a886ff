import { isMap, type JsonMap } from './json-map.js'
import { type Marker, markersOf } from './markers.js'

/** A parameter of an operation. */
export interface ParameterModel {
  readonly name: string
  readonly in: string
  readonly isRequired: boolean
  readonly description: string
  readonly schema: unknown
  /** A value that the contract gives, undefined where it gives none. */
  readonly example: unknown
}

/** An example of a body. */
export interface ExampleModel {
  readonly title: string
  readonly value: unknown
}

/** A request body, or the body of an answer. */
export interface BodyModel {
  readonly mediaType: string
  readonly schema: unknown
  readonly examples: readonly ExampleModel[]
}

/** A documented answer. */
export interface AnswerModel {
  /** `200`, `4XX`, `default` */
  readonly status: string
  readonly description: string
  /** The specification does not say this: what of it is the sandbox's choice. */
  readonly choice: string | undefined
  readonly headers: readonly { readonly name: string; readonly description: string }[]
  readonly body: BodyModel | undefined
}

/** An operation, ready to be shown. */
export interface OperationModel {
  readonly id: string
  /** Upper case. */
  readonly method: string
  readonly path: string
  readonly tag: string
  readonly title: string
  readonly description: string
  readonly markers: readonly Marker[]
  readonly successor: string | undefined
  /** The service's own docs hide the panel of some operations; so does this page. */
  readonly isSendable: boolean
  readonly parameters: readonly ParameterModel[]
  readonly body: (BodyModel & { readonly isRequired: boolean }) | undefined
  readonly answers: readonly AnswerModel[]
}

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace']

/** A contract to read from: its references lead into itself. */
export class ContractModel {
  readonly document: JsonMap
  readonly operations: readonly OperationModel[]

  constructor(document: JsonMap) {
    this.document = document
    this.operations = Object.entries(mapOf(document.paths)).flatMap(([path, given]) => {
      const content = mapOf(this.resolve(given).value)
      return METHODS.flatMap((method) =>
        isMap(content[method]) ? [this.#operation(path, method, content[method], content)] : [],
      )
    })
  }

  get title(): string {
    return textOf(mapOf(this.document.info).title)
  }

  get version(): string {
    return textOf(mapOf(this.document.info).version)
  }

  get description(): string {
    const { summary, description } = mapOf(this.document.info)
    return [textOf(summary), textOf(description)].filter(Boolean).join('\n\n')
  }

  /** Follows references within the document. @returns what is there, and the last name that led to it */
  resolve(given: unknown): { readonly value: unknown; readonly name: string | undefined } {
    let value = given
    let name: string | undefined
    // A reference may lead to another, and in a broken contract back to itself.
    for (let hops = 0; hops < 20 && isMap(value) && typeof value.$ref === 'string'; hops++) {
      if (!value.$ref.startsWith('#/')) return { value: {}, name: value.$ref }
      const parts = value.$ref.slice(2).split('/').map(unescaped)
      name = parts.at(-1)
      const { $ref: _, ...beside } = value
      const target: unknown = parts.reduce<unknown>((at, part) => mapOf(at)[part], this.document)
      value = isMap(target) && Object.keys(beside).length > 0 ? { ...target, ...beside } : target
    }
    return { value, name }
  }

  #operation(path: string, method: string, operation: JsonMap, shared: JsonMap): OperationModel {
    const { operationId, summary, description, tags, requestBody } = operation
    const parameters = [...listOf(shared.parameters), ...listOf(operation.parameters)].map((given) =>
      this.#parameter(given),
    )
    // Those of the operation stand in for those of its path.
    const byName = new Map(parameters.map((parameter) => [`${parameter.in} ${parameter.name}`, parameter]))
    const body = this.resolve(requestBody).value
    const content = this.#body(mapOf(body).content)
    const successor = operation['x-deprecated-successor']
    return {
      id: typeof operationId === 'string' ? operationId : `${method} ${path}`,
      method: method.toUpperCase(),
      path,
      tag: textOf(listOf(tags)[0]),
      title: textOf(summary),
      description: textOf(description),
      markers: markersOf(operation),
      successor: typeof successor === 'string' ? successor : undefined,
      isSendable: operation['x-hideTryItPanel'] !== true,
      parameters: [...byName.values()],
      body: content && { ...content, isRequired: mapOf(body).required === true },
      answers: Object.entries(mapOf(operation.responses)).map(([status, given]) => this.#answer(status, given)),
    }
  }

  #parameter(given: unknown): ParameterModel {
    const parameter = mapOf(this.resolve(given).value)
    const schema = parameter.schema ?? Object.values(mapOf(parameter.content)).map((media) => mapOf(media).schema)[0]
    const [example] = this.#examples(parameter)
    return {
      name: textOf(parameter.name),
      in: textOf(parameter.in),
      isRequired: parameter.required === true,
      description: textOf(parameter.description),
      schema,
      example: example?.value,
    }
  }

  #answer(status: string, given: unknown): AnswerModel {
    const answer = mapOf(this.resolve(given).value)
    const choice = answer['x-sandbox-choice']
    return {
      status,
      description: textOf(answer.description),
      choice: typeof choice === 'string' ? choice : undefined,
      headers: Object.entries(mapOf(answer.headers)).map(([name, header]) => ({
        name,
        description: textOf(mapOf(this.resolve(header).value).description),
      })),
      body: this.#body(answer.content),
    }
  }

  #body(content: unknown): BodyModel | undefined {
    const all = Object.entries(mapOf(content))
    const found = all.find(([type]) => /[/+]json\b/.test(type)) ?? all[0]
    if (found === undefined) return undefined
    const [mediaType, given] = found
    const media = mapOf(given)
    return { mediaType, schema: media.schema, examples: this.#examples(media) }
  }

  #examples(holder: JsonMap): readonly ExampleModel[] {
    const named = Object.entries(mapOf(holder.examples)).map(([name, given]) => {
      const example = mapOf(this.resolve(given).value)
      return { title: textOf(example.summary) || name, value: example.value }
    })
    return holder.example === undefined ? named : [{ title: 'Example', value: holder.example }, ...named]
  }
}

function unescaped(part: string): string {
  try {
    return decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~')
  } catch {
    return part
  }
}

export function mapOf(value: unknown): JsonMap {
  return isMap(value) ? value : {}
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

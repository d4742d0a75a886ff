import { pointerSteps } from '../contract/document.js'
import { isNode, type Node } from '../contract/json.js'
import { LIST_OF_SCHEMAS, NAMED_SCHEMAS, ONE_SCHEMA, words } from '../contract/keywords.js'
import { decodePercent } from '../contract/query.js'
import { SpecError } from '../contract/spec-error.js'
import { messageOf } from '../system/message-of.js'
import { withSubtypes } from './subtypes.js'

/** Files beside a document. */
export interface Files {
  /** The path of the document. */
  readonly own: string
  /** The path that a reference in a file leads to; undefined outside the document's folder. */
  find(from: string, reference: string): string | undefined
  read(path: string): unknown
}

export interface NormalForm {
  readonly document: Node
  /** For the start. */
  readonly notes: readonly string[]
  /** It differs from the text in more than the version of OpenAPI: it was Swagger 2.0, or has several files. */
  readonly isRewritten: boolean
}

/**
 * Brings a document to the one form that the sandbox reads: OpenAPI 3.1 in one file. Swagger 2.0 is converted, OpenAPI
 * 3.0 becomes 3.1, and schemas of other files become components. Extensions and examples stay as they are.
 *
 * @throws SpecError naming the place in the document
 */
export async function toNormalForm(written: unknown, files?: Files): Promise<NormalForm> {
  if (!isNode(written)) throw new SpecError('the document must be an object')
  const isSwagger = /^2(?:\.0)?$/.test(String(written.swagger))
  const document = isSwagger ? await convertSwagger(written) : written
  const version = String(document.openapi)
  if (document.openapi === undefined)
    throw new SpecError('the document is not an OpenAPI document: it has no field "openapi"')
  if (!/^3\.[012](?:\.|$)/.test(version))
    throw new SpecError(`the document uses OpenAPI ${JSON.stringify(version)}; 2.0, 3.0 and 3.1 are supported`)
  const reader = new FormReader(document, version.startsWith('3.0'), files)
  const { info } = document
  if (isNode(info) && /^(?:number|bigint)$/.test(typeof info.version))
    reader.notes.push(
      `info.version is a number. Write it in quotes ("${info.version}"): ${info.version} may lose digits.`,
    )
  return {
    document: { ...reader.read(), openapi: '3.1.0' },
    notes: reader.notes,
    isRewritten: isSwagger || reader.hasOtherFiles,
  }
}

async function convertSwagger(document: Node): Promise<Node> {
  const { upgradeSwagger } = await import('./swagger.js')
  try {
    return upgradeSwagger(structuredClone({ ...document, swagger: '2.0' }))
  } catch (error) {
    throw new SpecError(
      `the document is Swagger 2.0 and cannot be converted: ${String(error)}. Convert it to OpenAPI 3`,
    )
  }
}

/** Objects whose keys are names, which may begin with x-. */
const NAMED = words('content encoding headers links parameters requestBodies schemas securitySchemes')
/** Keywords that a reference in OpenAPI 3.0 may have beside it, although the specification ignores them. */
const BESIDE_REFERENCE = words('deprecated description nullable readOnly writeOnly')

/** Keywords that make a schema of others. */
const OF_OTHER_SCHEMAS = words('$ref allOf anyOf oneOf discriminator')

interface Location {
  /** Undefined for the document itself. */
  readonly file: string | undefined
  readonly name: string
}

type Read = (value: unknown, at: Location) => unknown

class FormReader {
  readonly #document: Node
  readonly #isOld: boolean
  readonly #files: Files | undefined
  readonly notes: string[] = []
  readonly #added: Record<string, unknown> = {}
  /** New references to schemas of other files. */
  readonly #references = new Map<string, string>()
  readonly #opened = new Map<string, unknown>()

  constructor(document: Node, isOld: boolean, files: Files | undefined) {
    this.#document = document
    this.#isOld = isOld
    this.#files = files
  }

  get hasOtherFiles(): boolean {
    return this.#opened.size > 0
  }

  read(): Node {
    const document = this.#part(this.#document, { file: undefined, name: '' }) as Node
    const components = isNode(document.components) ? document.components : {}
    const schemas = { ...Object(components.schemas), ...this.#added }
    return { ...document, components: { ...components, schemas: withSubtypes(schemas) } }
  }

  #part(value: unknown, at: Location, isNamed = false): unknown {
    if (Array.isArray(value))
      return value.map((item, index) => this.#part(item, { ...at, name: `${at.name}[${index}]` }))
    if (!isNode(value)) return value
    if (typeof value.$ref === 'string' && !isNamed)
      return this.#refer(value.$ref, at, (item, where) => this.#part(item, where))
    return mapNode(value, at, (key, item, where) => {
      if (isNamed) return this.#part(item, where)
      if (key.startsWith('x-') || key === 'example' || key === 'value') return item
      if (key === 'content' && isNode(item)) return this.#part(this.#mediaTypes(item, where), where, true)
      if (key === 'schema') return this.#schema(item, where)
      if (key === 'schemas')
        return isNode(item) ? mapNode(item, where, (_, schema, there) => this.#schema(schema, there)) : item
      return this.#part(item, where, NAMED.has(key))
    })
  }

  /** A description beside the media types, as in a response, says nothing about a body. */
  #mediaTypes(content: Node, at: Location): Node {
    const isText = ([key, one]: readonly [string, unknown]) => !key.includes('/') && typeof one === 'string'
    for (const [key] of Object.entries(content).filter(isText))
      this.notes.push(`${at.name}.${key} is ignored: only media types are named there.`)
    return Object.fromEntries(Object.entries(content).filter((entry) => !isText(entry)))
  }

  #schema(value: unknown, at: Location): unknown {
    // YAML reads a key without a value as null.
    if (value === null) return {}
    if (!isNode(value)) return value
    const inner = mapNode(value, at, (key, item, where) => {
      if (LIST_OF_SCHEMAS.has(key) || ONE_SCHEMA.has(key))
        return Array.isArray(item)
          ? item.map((schema, index) => this.#schema(schema, { ...where, name: `${where.name}[${index}]` }))
          : this.#schema(item, where)
      if (key === 'discriminator' && isNode(item) && isNode(item.mapping))
        return { ...item, mapping: this.#mapping(item.mapping, { ...where, name: `${where.name}.mapping` }) }
      if (!NAMED_SCHEMAS.has(key) || !isNode(item)) return item
      return mapNode(item, where, (_, schema, there) => this.#schema(schema, there))
    })
    if (typeof value.$ref === 'string') {
      const { $ref } = this.#refer(value.$ref, at, (item, where) => this.#shared(item, where)) as Node
      if (!this.#isOld) return withBeside($ref, inner)
      const beside = Object.entries(inner).filter(([key]) => BESIDE_REFERENCE.has(key) || key.startsWith('x-'))
      return upgraded({ ...Object.fromEntries(beside), $ref })
    }
    // The tuples of older drafts.
    const { items, ...others } = inner
    const schema = withAnyDiscriminated(
      withTextChoices(Array.isArray(items) ? { ...others, prefixItems: items } : inner),
    )
    return this.#isOld ? upgraded(schema) : schema
  }

  /** The schemas that a discriminator names, which nothing else may refer to. */
  #mapping(mapping: Node, at: Location): Node {
    return mapNode(mapping, at, (_, to, where) => {
      if (typeof to !== 'string' || !/[#/]|\.(?:ya?ml|json)$/.test(to)) return to
      try {
        return Object(this.#refer(to, where, (item, there) => this.#shared(item, there))).$ref
      } catch (error) {
        this.notes.push(`${messageOf(error)}.`)
        return to
      }
    })
  }

  /** A schema of another file, which may refer to itself, as a component. */
  #shared(value: unknown, at: Location): Node {
    const known = this.#references.get(at.name)
    if (known !== undefined) return { $ref: known }
    const [word = 'Schema'] = /[\w-]+(?=(?:\.\w+)?$)/.exec(at.name) ?? []
    const taken = { ...Object(Object(this.#document.components).schemas), ...this.#added }
    let name = word
    for (let number = 2; Object.hasOwn(taken, name); number++) name = `${word}${number}`
    const $ref = `#/components/schemas/${name}`
    this.#references.set(at.name, $ref)
    this.#added[name] = true
    this.#added[name] = this.#schema(value, at)
    return { $ref }
  }

  /** A reference into the document stays; any other is replaced by what it leads to. */
  #refer(reference: string, at: Location, read: Read): unknown {
    const [path = '', pointer = ''] = reference.split('#')
    if (path === '' && at.file === undefined) return { $ref: reference }
    if (this.#files === undefined || /^(?:[a-z][a-z\d+.-]*:|\/)/i.test(path))
      throw placeError(at, `refers to another document ("${reference}"). Bundle them into one file first`)
    const file = path === '' ? at.file : this.#files.find(at.file ?? this.#files.own, decodePercent(path))
    if (file === this.#files.own) return { $ref: `#${pointer}` }
    if (file === undefined) throw placeError(at, `refers to "${reference}", which is not in the folder of the document`)
    const name = `${file}#${pointer}`
    let value = this.#open(file, `${at.name} refers to "${reference}"`)
    for (const step of pointerSteps(pointer)) {
      if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step))
        throw placeError(at, `points at nothing ("${reference}")`)
      value = Reflect.get(value, step)
    }
    return read(value, { file, name })
  }

  #open(file: string, problem: string): unknown {
    try {
      if (!this.#opened.has(file)) this.#opened.set(file, this.#files?.read(file))
    } catch (error) {
      throw new SpecError(`${problem}, which cannot be read: ${messageOf(error)}`)
    }
    return this.#opened.get(file)
  }
}

function mapNode(node: Node, at: Location, map: (key: string, value: unknown, at: Location) => unknown): Node {
  return Object.fromEntries(
    Object.entries(node).map(([key, value]) => [
      key,
      map(key, value, { ...at, name: at.name === '' ? key : `${at.name}.${key}` }),
    ]),
  )
}

function placeError({ name }: Location, problem: string): SpecError {
  return new SpecError(`${name} ${problem}`)
}

/** What a schema says about itself, and not about values. */
const ANNOTATIONS = words(
  'title description default example examples deprecated readOnly writeOnly externalDocs xml discriminator $comment $id $anchor $defs definitions',
)

/** Rules beside a reference apply too (JSON Schema 2020-12). */
function withBeside($ref: unknown, { $ref: _, ...beside }: Node): Node {
  const isAnnotation = (key: string) => ANNOTATIONS.has(key) || key.startsWith('x-')
  const rules = Object.entries(beside).filter(([key]) => !isAnnotation(key))
  if (rules.length === 0) return { ...beside, $ref }
  const annotations = Object.entries(beside).filter(([key]) => isAnnotation(key))
  return { ...Object.fromEntries(annotations), allOf: [{ $ref }, Object.fromEntries(rules)] }
}

/** The discriminator chooses: alternatives may allow the same values. */
function withAnyDiscriminated({ oneOf, ...schema }: Node): Node {
  if (oneOf === undefined) return schema
  return schema.discriminator === undefined || schema.anyOf !== undefined
    ? { ...schema, oneOf }
    : { ...schema, anyOf: oneOf }
}

/** YAML reads `true` and `1.0` in the choices of a text as other values. */
function withTextChoices(schema: Node): Node {
  const { type, enum: choices } = schema
  const isOther = (value: unknown) => typeof value === 'boolean' || typeof value === 'number'
  if (type !== 'string' || !Array.isArray(choices) || !choices.every(isOther)) return schema
  return { ...schema, enum: choices.map(String) }
}

/** From OpenAPI 3.0 to JSON Schema. @source OpenAPI specification: Schema Object */
function upgraded(schema: Node): Node {
  const { nullable, ...others } = schema
  const result: Record<string, unknown> = others
  for (const [exclusive, inclusive] of [
    ['exclusiveMinimum', 'minimum'],
    ['exclusiveMaximum', 'maximum'],
  ] as const) {
    if (typeof result[exclusive] !== 'boolean') continue
    const { [inclusive]: bound } = result
    if (result[exclusive] === true && bound !== undefined) {
      result[exclusive] = bound
      delete result[inclusive]
    } else delete result[exclusive]
  }
  if (nullable !== true) return result
  const { type } = result
  if (type === undefined) {
    // Without a type it has no effect, but its authors mean one.
    const parts = Object.entries(result).filter(([name]) => OF_OTHER_SCHEMAS.has(name))
    if (parts.length === 0) return result
    const rest = Object.entries(result).filter(([name]) => !OF_OTHER_SCHEMAS.has(name))
    return { ...Object.fromEntries(rest), anyOf: [Object.fromEntries(parts), { type: 'null' }] }
  }
  result.type = [...new Set([type, 'null'].flat())]
  if (Array.isArray(result.enum) && !result.enum.includes(null)) result.enum = [...result.enum, null]
  return result
}

import { isNode, type Node } from './json.js'
import { essenceOf, isJsonType } from './media-types.js'
import { decodePercent } from './query.js'
import { SpecError } from './spec-error.js'

export { isNode, type Node } from './json.js'

export interface Content {
  /** Lower case, without parameters. */
  readonly mediaType: string
  readonly content: Place
}

export class Place {
  readonly document: Node
  readonly value: unknown
  /** `paths./pets.get.parameters[0]` */
  readonly name: string

  constructor(document: Node, value: unknown, name: string) {
    this.document = document
    this.value = value
    this.name = name
  }

  /** The value under a key, with references resolved. */
  child(key: string): Place | undefined {
    if (!isNode(this.value) || !Object.hasOwn(this.value, key) || this.value[key] === undefined) return undefined
    return this.at(this.value[key], this.name === '' ? key : `${this.name}.${key}`)
  }

  /** The value under a key with references unresolved: in schemas they may have siblings. */
  written(key: string): Place {
    return new Place(this.document, this.object()[key], this.name === '' ? key : `${this.name}.${key}`)
  }

  children(key: string): readonly (readonly [string, Place])[] {
    return this.entries(key).filter(([name]) => !name.startsWith('x-'))
  }

  /** The same with extensions: names of fields and headers may begin with `x-`. */
  entries(key: string): readonly (readonly [string, Place])[] {
    const place = this.child(key)
    // YAML reads a key without a value as null.
    if (place === undefined || place.value === null) return []
    return Object.keys(place.object()).flatMap((name) => {
      const child = place.child(name)
      return child === undefined ? [] : [[name, child] as const]
    })
  }

  items(key: string): readonly Place[] {
    const place = this.child(key)
    if (place === undefined || place.value === null) return []
    if (!Array.isArray(place.value)) throw place.error('must be a list')
    return place.value.map((item: unknown, index) => this.at(item, `${place.name}[${index}]`))
  }

  object(): Node {
    if (!isNode(this.value)) throw this.error('must be an object')
    return this.value
  }

  string(key: string): string | undefined {
    const place = this.child(key)
    if (place === undefined || place.value === null) return undefined
    // YAML reads `version: 1.0` and `description: 2024` as numbers.
    if (typeof place.value === 'object') throw place.error('must be a string')
    return String(place.value)
  }

  flag(key: string): boolean {
    return this.child(key)?.value === true
  }

  error(problem: string): SpecError {
    return new SpecError(`${this.name === '' ? 'the document' : this.name} ${problem}`)
  }

  private at(value: unknown, name: string): Place {
    const here = new Place(this.document, value, name)
    const seen = new Set<string>()
    let place = here
    while (isNode(place.value) && typeof place.value.$ref === 'string') {
      const reference = place.value.$ref
      if (seen.has(reference)) throw here.error(`refers to itself ("${reference}")`)
      seen.add(reference)
      place = here.target(reference)
    }
    return place
  }

  target(reference: string): Place {
    return new Place(this.document, this.resolve(reference), referenceName(reference))
  }

  private resolve(reference: string): unknown {
    let value: unknown = this.document
    for (const step of pointerSteps(reference)) {
      const container: unknown = value
      if (typeof container !== 'object' || container === null || !Object.hasOwn(container, step)) {
        throw this.error(`points at nothing ("${reference}")`)
      }
      value = Reflect.get(container, step)
    }
    return value
  }
}

export function rootPlace(document: unknown): Place {
  if (!isNode(document)) throw new SpecError('the document must be an object')
  return new Place(document, document, '')
}

/** The steps of a JSON pointer, with or without `#`. */
export function pointerSteps(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((step) => decodePercent(step).replaceAll('~1', '/').replaceAll('~0', '~'))
}

function referenceName(reference: string): string {
  return pointerSteps(reference).join('.')
}

export function operationPlace(
  root: Place,
  { path, method }: { readonly path: string; readonly method: string },
): Place | undefined {
  return root.child('paths')?.child(path)?.child(method.toLowerCase())
}

/** The content that is JSON: as `application/json`, else as a merge patch, another type of JSON, or a range such as any type. */
export function jsonContent(place: Place | undefined): Content | undefined {
  const all = (place?.entries('content') ?? []).map(([mediaType, content]) => ({
    mediaType: essenceOf(mediaType),
    content,
  }))
  const ranked = [/^application\/json$/, /merge-patch/, /json$/, /\*/]
  return ranked.flatMap((kind) => all.find(({ mediaType }) => isJsonType(mediaType) && kind.test(mediaType)) ?? [])[0]
}

/** Whether a document has the schema that FastAPI writes for invalid requests. */
export function isFastApi({ components }: Node): boolean {
  return isNode(components) && Object(components.schemas).HTTPValidationError !== undefined
}

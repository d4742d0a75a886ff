import { isNode, type Node } from './json.js'
import { decodePercent } from './query.js'
import { SpecError } from './spec-error.js'

export { isNode, type Node } from './json.js'

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
    if (place === undefined) return []
    return Object.keys(place.object()).flatMap((name) => {
      const child = place.child(name)
      return child === undefined ? [] : [[name, child] as const]
    })
  }

  items(key: string): readonly Place[] {
    const place = this.child(key)
    if (place === undefined) return []
    if (!Array.isArray(place.value)) throw place.error('must be a list')
    return place.value.map((item: unknown, index) => this.at(item, `${place.name}[${index}]`))
  }

  object(): Node {
    if (!isNode(this.value)) throw this.error('must be an object')
    return this.value
  }

  string(key: string): string | undefined {
    const place = this.child(key)
    if (place === undefined) return undefined
    if (typeof place.value !== 'string') throw place.error('must be a string')
    return place.value
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

  refuseForeign(reference: string): void {
    if (reference.startsWith('#')) return
    throw this.error(`refers to another document ("${reference}"). Bundle them into one file first`)
  }

  target(reference: string): Place {
    return new Place(this.document, this.resolve(reference), referenceName(reference))
  }

  private resolve(reference: string): unknown {
    this.refuseForeign(reference)
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

/**
 * Prism would read files and addresses that the user did not name, even in examples. It does not get the document's own
 * extensions. @throws SpecError naming the first one
 */
export function refuseForeignReferences(root: Place): void {
  const seen = new Set<unknown>()
  const look = (value: unknown, name: string): void => {
    if (typeof value !== 'object' || value === null || seen.has(value)) return
    seen.add(value)
    const reference: unknown = Reflect.get(value, '$ref')
    if (typeof reference === 'string') new Place(root.document, value, name).refuseForeign(reference)
    for (const [key, child] of Object.entries(value)) {
      if (name === '' && key.startsWith('x-')) continue
      look(child, Array.isArray(value) ? `${name}[${key}]` : name === '' ? key : `${name}.${key}`)
    }
  }
  look(root.value, '')
}

function pointerSteps(reference: string): string[] {
  return reference
    .slice(1)
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

const JSON_MEDIA_TYPE = /^application\/json\s*(?:;|$)/i

export function jsonContent(place: Place | undefined): Place | undefined {
  return place?.children('content').find(([mediaType]) => JSON_MEDIA_TYPE.test(mediaType))?.[1]
}

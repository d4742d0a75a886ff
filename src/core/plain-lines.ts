import { parseJson, stringifyJson } from '../contract/json.js'

/** About so many characters are written, or read, at a time: a few milliseconds. */
const LINE_LENGTH = 64 * 1024
/** What a number, or another value without parts, takes: about. */
const SCALAR_LENGTH = 8

type Container = Record<string | number, unknown> | unknown[]
type Path = readonly (string | number)[]

/**
 * Plain data of any size as lines of JSON that are short, unless a single text in it is long: nobody who writes or reads
 * them need do so at one go.
 *
 * Each line is `[path, value]`. What is at its path already is a list or an object that the value is a further part of.
 * They are made when they are asked for: until then nobody may change the data.
 *
 * @param longest about how many characters a line may have
 */
export function* linesOf(value: unknown, longest = LINE_LENGTH, path: Path = []): Generator<string, void> {
  if (!isContainer(value) || lengthOf(value, longest) < longest) {
    yield stringifyJson([path, value])
    return
  }
  const isList = Array.isArray(value)
  yield stringifyJson([path, isList ? [] : {}])
  let few: (readonly [string | number, unknown])[] = []
  let length = 0
  const together = () => {
    const line = stringifyJson([path, isList ? few.map(([, part]) => part) : Object.fromEntries(few)])
    few = []
    length = 0
    return line
  }
  for (const [name, part] of isList ? value.entries() : Object.entries(value)) {
    // JSON leaves it out.
    if (part === undefined && !isList) continue
    const partLength = lengthOf(part, longest)
    const isLong = partLength >= longest
    if (few.length > 0 && (isLong || length + partLength > longest)) yield together()
    if (isLong) yield* linesOf(part, longest, [...path, name])
    else {
      few.push([name, part])
      length += partLength
    }
  }
  if (few.length > 0) yield together()
}

/** Puts together again what was written as lines. */
export class LinesReader {
  /** What all is in, so that the whole is a part, too. */
  readonly #around: Container = []

  take(line: string): void {
    const [path, value] = parseJson(line) as readonly [Path, unknown]
    let around = this.#around
    let name: string | number = 0
    for (const next of path) {
      around = containerAt(around, name)
      name = next
    }
    const known = partOf(around, name)
    if (known === undefined) put(around, name, value)
    else if (Array.isArray(known)) for (const part of value as readonly unknown[]) known.push(part)
    else for (const [ofPart, part] of Object.entries(value as object)) put(known as Container, ofPart, part)
  }

  /** Undefined before the first line. */
  get value(): unknown {
    return partOf(this.#around, 0)
  }
}

/** About how long its JSON is, at most `enough`: nobody counts further. */
function lengthOf(value: unknown, enough: number): number {
  if (typeof value === 'string') return value.length
  if (!isContainer(value)) return SCALAR_LENGTH
  let length = SCALAR_LENGTH
  if (Array.isArray(value))
    for (const part of value) {
      length += lengthOf(part, enough - length)
      if (length >= enough) break
    }
  else
    for (const name in value) {
      // The same lines for what was read again, and has lost what JSON leaves out.
      if (value[name] === undefined) continue
      length += name.length + lengthOf(value[name], enough - length)
      if (length >= enough) break
    }
  return length
}

function isContainer(value: unknown): value is Container {
  return typeof value === 'object' && value !== null
}

function containerAt(around: Container, name: string | number): Container {
  const found = partOf(around, name)
  if (!isContainer(found)) throw new SyntaxError(`there is nothing at "${name}" yet`)
  return found
}

/** Its own only: a name may be "__proto__". */
function partOf(around: Container, name: string | number): unknown {
  return Object.getOwnPropertyDescriptor(around, name)?.value
}

function put(around: Container, name: string | number, value: unknown): void {
  Object.defineProperty(around, name, { value, writable: true, enumerable: true, configurable: true })
}

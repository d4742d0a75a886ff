import { parseJson, stringifyJson } from '../contract/json.js'
import { digestOf } from '../system/runtime.js'
import type { SavedSpaces, Spaces } from './spaces.js'

/** Raised when the content changes its shape or meaning. */
const CHECKPOINT_VERSION = 9

/**
 * A whole sandbox as short lines of text: spaces, keys, logs, conduct, snapshots, random streams. Machines with the same
 * commands have the same text. It does not contain the options of the start, which must be the same. Lines are made
 * lazily: later commands do not change them.
 */
export function checkpointLines(spaces: Spaces): Iterable<string> {
  // A copy: see `Spaces.save`.
  const saved = spaces.save()
  return (function* () {
    yield stringifyJson({ version: CHECKPOINT_VERSION })
    yield* toLines(saved)
  })()
}

/** Restores a checkpoint into new spaces with the same options. */
export class CheckpointReader {
  #lines: LinesReader | undefined

  /** @throws RangeError for another version */
  take(line: string): void {
    if (this.#lines !== undefined) {
      this.#lines.take(line)
      return
    }
    const { version } = parseJson(line) as { readonly version: number }
    if (version !== CHECKPOINT_VERSION)
      throw new RangeError(`the checkpoint has version ${version}, this release reads version ${CHECKPOINT_VERSION}`)
    this.#lines = new LinesReader()
  }

  *putInto(spaces: Spaces): Generator<void, void> {
    yield* spaces.load(this.#lines?.value as SavedSpaces)
  }
}

/** SHA-256 of a checkpoint, in base64. */
export function digestSandbox(spaces: Spaces): string {
  return digestOfLines(checkpointLines(spaces))
}

export function digestData(data: unknown): string {
  return digestOfLines(toLines(data))
}

/** Line by line: the whole text may be huge. */
function digestOfLines(lines: Iterable<string>): string {
  return digestOf(Array.from(lines, (line) => digestOf(line)).join(''))
}

/** Approximate length of a line: a few milliseconds of work. */
const LINE_LENGTH = 64 * 1024
const SCALAR_LENGTH = 8

type Container = Record<string | number, unknown> | unknown[]
type Path = readonly (string | number)[]

/**
 * Plain data of any size as short lines of JSON, so that writing and reading can pause. Each line is `[path, value]`; a
 * value at a known path is a further part of the list or object there. Lines are made lazily: the data must not change
 * until the last one.
 */
export function* toLines(value: unknown, longest = LINE_LENGTH, path: Path = []): Generator<string, void> {
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
    if (part === undefined && !isList) continue
    const partLength = lengthOf(part, longest)
    const isLong = partLength >= longest
    if (few.length > 0 && (isLong || length + partLength > longest)) yield together()
    if (isLong) yield* toLines(part, longest, [...path, name])
    else {
      few.push([name, part])
      length += partLength
    }
  }
  if (few.length > 0) yield together()
}

export class LinesReader {
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

  get value(): unknown {
    return partOf(this.#around, 0)
  }
}

/** Approximate length as JSON, counted up to `enough`. */
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
      // JSON leaves out undefined.
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

/** Own properties only: a name may be "__proto__". */
function partOf(around: Container, name: string | number): unknown {
  return Object.getOwnPropertyDescriptor(around, name)?.value
}

function put(around: Container, name: string | number, value: unknown): void {
  Object.defineProperty(around, name, { value, writable: true, enumerable: true, configurable: true })
}

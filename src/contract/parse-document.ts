import { messageOf } from '../system/message-of.js'
import { loadYaml } from '../system/yaml.js'
import { exactInteger } from './int64.js'
import { parseJson } from './json.js'
import { placeOf } from './json-error.js'
import { SpecError } from './spec-error.js'
import { findRepeatedKey, yamlMistake } from './yaml-mistakes.js'

/** The longest that we know of, GitHub's and Microsoft's, have 9 MB and take YAML's parser half a minute. */
export const MOST_CHARACTERS = 10_000_000
/** With each alias unfolded, as JSON has none. */
const MOST_UNFOLDED = 50_000_000
/** Nobody writes so many levels; what goes through a document by calling itself would run out of stack at some thousands. */
const DEEPEST = 500

/**
 * Parses an OpenAPI document, YAML or JSON; whole numbers in it are exact.
 *
 * @param file for the error message only
 * @throws SpecError naming file, line and column
 */
export async function parseDocument(file: string, text: string): Promise<unknown> {
  if (text.length > MOST_CHARACTERS) {
    const size = Math.ceil(text.length / 1_000_000)
    throw new SpecError(
      `${file} has ${size} MB; a contract may have ${MOST_CHARACTERS / 1_000_000}. Leave out what is not called`,
    )
  }
  const document = parseJsonDocument(file, text) ?? parseYamlDocument(file, text)
  if (isNestedDeeper(document, DEEPEST)) {
    throw new SpecError(`${file} is nested deeper than ${DEEPEST} levels, or its aliases are circular`)
  }
  if (isLonger(document, MOST_UNFOLDED)) {
    throw new SpecError(`${file} is longer than ${MOST_UNFOLDED / 1_000_000} MB with its aliases unfolded`)
  }
  return document
}

function parseJsonDocument(file: string, text: string): unknown {
  if (!/^\s*\{/.test(text)) return undefined
  try {
    return parseJson(text)
  } catch (error) {
    // A YAML document may start with a brace too.
    if (file.endsWith('.json')) throw new SpecError(`${file} is not valid JSON: ${messageOf(error)}`)
    return undefined
  }
}

function parseYamlDocument(file: string, text: string): unknown {
  const yaml = loadYaml()
  const broken = (message: string, position: number) =>
    new SpecError(`${file} is not valid YAML: ${message} at ${placeOf(text, position)}`)
  try {
    const options = { intAsBigInt: true, merge: true, prettyErrors: false, uniqueKeys: false }
    const document = yaml.parseDocument(text, options)
    const [mistake] = document.errors
    if (mistake !== undefined) throw broken(yamlMistake(mistake.message), mistake.pos[0])
    const repeated = findRepeatedKey(yaml, document)
    if (repeated !== undefined) throw broken('Map keys must be unique', repeated)
    return document.toJS({
      reviver: (_key, value: unknown) => (typeof value === 'bigint' ? exactInteger(value) : value),
    })
  } catch (error) {
    if (error instanceof SpecError) throw error
    const problem =
      error instanceof RangeError ? 'its aliases are circular, or it is nested too deeply' : messageOf(error)
    throw new SpecError(`${file} cannot be read: ${problem}`)
  }
}

/**
 * Whether a value has more levels of lists and objects than so many. Without
 * recursion: how deep a text is nested is its writer's choice. What refers to
 * itself is nested without end.
 */
function isNestedDeeper(root: unknown, levels: number): boolean {
  let level: object[] = isContainer(root) ? [root] : []
  for (let depth = 0; level.length > 0; depth++) {
    if (depth >= levels) return true
    // What stands in several places is looked at once for each level.
    level = [...new Set(level.flatMap((container) => Object.values(container).filter(isContainer)))]
  }
  return false
}

/** Whether a value, which must not refer to itself, has more characters than so many, roughly, as JSON. */
function isLonger(root: unknown, characters: number): boolean {
  let length = 0
  const open: unknown[] = [root]
  while (open.length > 0 && length <= characters) {
    const value = open.pop()
    length += typeof value === 'string' ? value.length + 2 : 4
    if (!isContainer(value)) continue
    for (const [name, child] of Object.entries(value)) {
      length += name.length
      open.push(child)
    }
  }
  return length > characters
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

import { messageOf } from '../system/message-of.js'
import { loadYaml } from '../system/yaml.js'
import { exactInteger } from './int64.js'
import { parseJson } from './json.js'
import { placeOf } from './json-error.js'
import { SpecError } from './spec-error.js'
import { findRepeatedKey, REPEATED_KEY, yamlMistake } from './yaml-mistakes.js'

/** GitHub's and Microsoft's contracts have 9 MB and take the YAML parser half a minute. */
export const MAX_CHARACTERS = 10_000_000
/** With aliases resolved. */
const MAX_UNFOLDED = 50_000_000
/** Recursive code overflows at some thousand levels. */
const MAX_DEPTH = 500

/** Whole numbers are exact. @param file its name in errors @throws SpecError naming file, line and column */
export async function parseDocument(file: string, text: string): Promise<unknown> {
  if (text.length > MAX_CHARACTERS) {
    const size = Math.ceil(text.length / 1_000_000)
    throw new SpecError(
      `${file} has ${size} MB; a contract may have ${MAX_CHARACTERS / 1_000_000}. Remove unused operations`,
    )
  }
  const document = parseJsonDocument(file, text) ?? parseYamlDocument(file, text)
  if (isNestedDeeper(document, MAX_DEPTH)) {
    throw new SpecError(`${file} is nested deeper than ${MAX_DEPTH} levels, or its aliases are circular`)
  }
  if (isLonger(document, MAX_UNFOLDED)) {
    throw new SpecError(`${file} is longer than ${MAX_UNFOLDED / 1_000_000} MB with its aliases unfolded`)
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
    if (mistake !== undefined) throw broken(yamlMistake(mistake), mistake.pos[0])
    const repeated = findRepeatedKey(yaml, document)
    if (repeated !== undefined) throw broken(REPEATED_KEY, repeated)
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

/** Without recursion, as the depth is unknown; a circular value is infinitely deep. */
function isNestedDeeper(root: unknown, levels: number): boolean {
  let level: object[] = isContainer(root) ? [root] : []
  for (let depth = 0; level.length > 0; depth++) {
    if (depth >= levels) return true
    level = [...new Set(level.flatMap((container) => Object.values(container).filter(isContainer)))]
  }
  return false
}

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

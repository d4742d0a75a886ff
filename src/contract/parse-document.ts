import { messageOf } from '../system/message-of.js'
import { loadYaml } from '../system/runtime.js'
import { exactInteger } from './int64.js'
import { parseShallowJson, stringifyJson } from './json.js'
import { placeOf } from './json-error.js'
import { SpecError } from './spec-error.js'
import { yamlMistake } from './yaml-mistakes.js'

/** GitHub's and Microsoft's contracts have 9 MB and take the YAML parser half a minute. */
export const MAX_CHARACTERS = 10_000_000

export type YamlReader = Pick<typeof import('yaml'), 'parseDocument' | 'isScalar'>

/** Whole numbers are exact. @param file its name in errors @throws SpecError naming file, line and column */
export function parseDocument(file: string, text: string, yaml?: YamlReader): unknown {
  if (text.length > MAX_CHARACTERS) {
    const size = Math.ceil(text.length / 1_000_000)
    throw new SpecError(
      `${file} has ${size} MB; a contract may have ${MAX_CHARACTERS / 1_000_000}. Remove unused operations`,
    )
  }
  const bare = text.replace(/^\ufeff/, '')
  return parseJsonDocument(file, bare) ?? parseYamlDocument(file, bare, yaml ?? loadYaml())
}

function parseJsonDocument(file: string, text: string): unknown {
  if (!/^\s*\{/.test(text)) return undefined
  try {
    return parseShallowJson(text)
  } catch (error) {
    // A YAML document may start with a brace too.
    if (file.endsWith('.json')) throw new SpecError(`${file} is not valid JSON: ${messageOf(error)}`)
    return undefined
  }
}

function parseYamlDocument(file: string, text: string, yaml: YamlReader): unknown {
  try {
    const document = yaml.parseDocument(text, { intAsBigInt: true, merge: true, prettyErrors: false })
    const [mistake] = document.errors
    if (mistake !== undefined)
      throw new SpecError(`${file} is not valid YAML: ${yamlMistake(mistake)} at ${placeOf(text, mistake.pos[0])}`)
    // Versions may be written like numbers.
    for (const path of [['openapi'], ['swagger'], ['info', 'version']]) {
      const node: unknown = document.getIn(path, true)
      if (yaml.isScalar(node) && /^(?:number|bigint)$/.test(typeof node.value) && path.length === 1)
        node.value = node.source
    }
    const value: unknown = document.toJS({
      reviver: (_key, item: unknown) => (typeof item === 'bigint' ? exactInteger(item) : item),
    })
    // Fails for circular aliases.
    stringifyJson(value)
    return value
  } catch (error) {
    if (error instanceof SpecError) throw error
    const isEndless = error instanceof RangeError || error instanceof TypeError
    const problem = isEndless ? 'its aliases are circular, or it is nested too deeply' : messageOf(error)
    throw new SpecError(`${file} cannot be read: ${problem}`)
  }
}

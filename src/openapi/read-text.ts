import type { Contract } from '../contract/contract.js'
import { createContract } from '../contract/create-contract.js'
import { quote } from '../contract/excerpt.js'
import { stringifyJson } from '../contract/json.js'
import { parseDocument, type YamlReader } from '../contract/parse-document.js'
import { nativePattern } from '../contract/patterns.js'
import { writeYaml } from '../contract/served-text.js'
import { SpecError } from '../contract/spec-error.js'
import { validatorMaker } from '../contract/validator-maker.js'
import { messageOf } from '../system/message-of.js'
import { type Files, toNormalForm } from './normal-form.js'
import { readContract } from './read-contract.js'
import { readRecordRules } from './record-rules.js'

export interface LoadOptions {
  /** Whether the sandbox serves it, so its records are held against it. Default: true. */
  readonly isServed?: boolean
  /** Operations that Prism mocks, although they fit a resource. */
  readonly mocked?: readonly string[]
  /** The name of the file in errors; default: its path. */
  readonly name?: string
  /** Called before each file that the document refers to is read. */
  readonly onRead?: (file: string) => void
  /** `native` for the user's own contracts only: matching may never end. */
  readonly patterns?: 'linear' | 'native'
  /** The library that reads YAML; default: the one of Node. */
  readonly yaml?: YamlReader
}

/** @throws SpecError naming the place in the text */
export async function readContractText(
  text: string,
  { isServed = true, mocked = [], name, patterns = 'linear', yaml }: LoadOptions & { readonly name: string },
  files?: Files,
): Promise<Contract> {
  const written = parseDocument(name, text, yaml)
  try {
    const { document, notes, isRewritten } = await toNormalForm(written, files)
    const { data, schemas, patterns: used, hasWide } = readContract(document, { mocked })
    const compile = await validatorMaker(patterns, { hasWide })
    // Its errors are the nested fields to drop.
    const compileClosed = await validatorMaker(patterns, { hasWide, maxErrors: Number.POSITIVE_INFINITY })
    const validators = Object.fromEntries(
      Object.entries(schemas).map(([id, schema]) => [id, (id.endsWith('_closed') ? compileClosed : compile)(schema)]),
    )
    const unchecked = patterns === 'linear' ? await uncheckedPatterns(used) : []
    const served = isRewritten ? document : written
    const isOther = isRewritten || /^\s*\{/.test(text)
    const textIn = async (format: 'yaml' | 'json') => {
      if (format === 'json') return stringifyJson(served, 2)
      return isOther ? writeYaml(served) : text
    }
    const texts = { document: async () => document, text: textIn }
    const contract = createContract(
      { ...data, notes: [...notes, ...data.notes, ...unchecked] },
      validators,
      texts,
      mocked,
    )
    return isServed ? { ...contract, rules: await readRecordRules(document, data, hasWide, mocked) } : contract
  } catch (error) {
    throw new SpecError(`${name}: ${messageOf(error)}`, { cause: error })
  }
}

async function uncheckedPatterns(patterns: ReadonlyMap<string, string>): Promise<readonly string[]> {
  if (patterns.size === 0) return []
  const { linearPattern } = await import('../contract/linear-pattern.js')
  return [...patterns]
    .filter(([pattern]) => linearPattern(pattern) === undefined)
    .map(([pattern, place]) => `${place}: the pattern ${quote(pattern)} is not checked, as it ${mistakeIn(pattern)}.`)
}

function mistakeIn(pattern: string): string {
  if (nativePattern(pattern) !== undefined)
    return (
      'cannot be matched in linear time. ' +
      'Write it without lookarounds, back references and repetitions of more than 1000'
    )
  try {
    new RegExp(pattern)
  } catch (error) {
    return `is not a valid regular expression (${messageOf(error).replace(/^.*\/[a-z]*: /s, '')})`
  }
  return 'is not a valid regular expression'
}

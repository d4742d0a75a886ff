import { join } from 'node:path'
import type { Argument, Command, Option } from 'commander'
import { contractData } from '../../contract/generated/contract-data.js'
import { WIRE_FAULTS } from '../../domain/faults.js'
import { allowedWords, pathKind } from '../../options/allowed.js'
import { toCamelCase } from '../../options/letter-case.js'
import { isOptionName } from '../../options/table.js'
import { fixturesDirectory } from '../../system/package-files.js'
import { readRegularFile } from '../../system/regular-file.js'
import { FAIL_ON_WORDS } from '../exec/fail-on.js'
import { NO_SUGGESTIONS, type Suggestions, suggestionsOf } from './suggestion.js'

/** What a flag of a command takes. */
export function valuesOfOption(command: Command, option: Option): Suggestions {
  return suggestionsOf(option.argChoices ?? []).words.length > 0
    ? suggestionsOf(option.argChoices ?? [])
    : valuesNamed(option.attributeName(), command)
}

/** What an argument of a command takes: by its own name, else by the command's (`sunset <mode>`). */
export function valuesOfArgument(command: Command, argument: Argument): Suggestions {
  if (argument.argChoices !== undefined) return suggestionsOf(argument.argChoices)
  const [own, ofCommand] = [toCamelCase(argument.name()), toCamelCase(command.name())]
  const found = valuesNamed(own, command)
  const isOnly = command.registeredArguments.length === 1
  return found === NO_SUGGESTIONS && isOnly ? valuesNamed(ofCommand, command) : found
}

function valuesNamed(name: string, command: Command): Suggestions {
  const ofContract = enumOf(command.name(), name)
  if (ofContract !== undefined) return suggestionsOf(ofContract)
  if (Object.hasOwn(OTHERS, name)) return suggestionsOf(OTHERS[name]?.() ?? [])
  if (FILES.includes(name)) return suggestionsOf([], 'file')
  return isOptionName(name) ? suggestionsOf(allowedWords(name), pathKind(name)) : NO_SUGGESTIONS
}

/** Values of what is no word of a few, but can be listed. */
const OTHERS: Readonly<Record<string, () => readonly string[]>> = {
  operation: operationIds,
  key: packagedKeys,
  fault: faultRules,
  rule: faultRules,
  failOn: () => FAIL_ON_WORDS,
}

/** Paths that are no options of a sandbox. */
const FILES: readonly string[] = ['report', 'apiKeyFile', 'file']

function operationIds(): readonly string[] {
  return contractData.operations.map(({ id }) => id)
}

/** The keys that come with the package. */
function packagedKeys(): readonly string[] {
  const keys: readonly { readonly key: string }[] = JSON.parse(
    readRegularFile(join(fixturesDirectory, 'keys.json')).toString(),
  )
  return keys.map(({ key }) => key)
}

function faultRules(): readonly string[] {
  return operationIds().flatMap((operation) => WIRE_FAULTS.map((fault) => `${operation}:${fault}`))
}

/** The words that a parameter or a body field of an operation takes. */
function enumOf(operationId: string, name: string): readonly string[] | undefined {
  const operation = contractData.operations.find(({ id }) => id === operationId)
  if (operation === undefined) return undefined
  const known = [...operation.parameters, ...(operation.body?.fields ?? [])].find((one) => one.name === name)
  return known?.enum?.map(String)
}

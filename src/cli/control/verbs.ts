import { resolve } from 'node:path'
import { Option } from 'commander'
import { callInSpace } from '../../api/call-verb.js'
import { parseShallowJson } from '../../contract/json.js'
import type { Verb } from '../../control/verb.js'
import type { VerbName, VerbOutput } from '../../control/verb-map.js'
import { verbText } from '../../control/verb-text.js'
import { VERB_ALIASES, VERBS, type VerbAlias } from '../../control/verbs.js'
import { Failure } from '../../domain/failures.js'
import { recordsText } from '../../domain/numbers.js'
import { OPTIONAL_SETTINGS, SETTING_NAMES } from '../../domain/settings.js'
import { didYouMean } from '../../domain/suggest.js'
import { valueFromText } from '../../options/layer.js'
import { toCamelCase, toKebabCase } from '../../options/letter-case.js'
import { findOption } from '../../options/names.js'
import { loadScenario } from '../../options/resolve.js'
import { packagedScenarios } from '../../options/scenario.js'
import { NO_SETTING } from '../../options/settings.js'
import { withFaultFile } from '../../options/sources.js'
import { optionRow } from '../../options/table.js'
import { readFault } from '../../options/values/faults.js'
import { MAX_OPTIONS_FILE_BYTES, readYamlMap } from '../../options/yaml-map.js'
import { messageOf } from '../../system/message-of.js'
import { describeOpenError, readInput, readRegularFile } from '../../system/regular-file.js'
import { escapeControls } from '../print.js'
import {
  clockResult,
  explanationText,
  faultsResult,
  keysResult,
  overridesResult,
  plainResult,
  recordsResult,
  settingsResult,
  stateText,
  stormStateText,
} from './formatters.js'
import type { Result } from './result.js'
import type { ControlContext, VerbCommands } from './verb-commands.js'

type Fields = Readonly<Record<string, unknown>>

/** What the terminal prints. Default: a table of what a verb reads, or the sentence about what it changed. */
const FORMATS: {
  readonly [Name in VerbName]?: (output: VerbOutput<Name>, at: ControlContext) => Result | Promise<Result>
} = {
  state: (value, { found }) => ({
    value,
    text: (width) =>
      value.explanation ? explanationText(value.explanation) : stateText(value, found.controlUrl, width),
  }),
  'overrides.list': async (value, { controls }) => overridesResult(value, await controls.clock.show()),
  'clock.show': clockResult,
  'clock.set': clockResult,
  'clock.advance': clockResult,
  'clock.reset': clockResult,
  'settings.show': settingsResult,
  'keys.list': keysResult,
  'keys.add': keysResult,
  'keys.change': keysResult,
  'storm.show': async (value, { controls }) =>
    value === null
      ? { value, text: '', note: 'No storm is active.' }
      : { value, text: stormStateText(value, Date.parse((await controls.clock.show()).now)) },
  'faults.add': faultsResult,
  'faults.list': faultsResult,
  'resources.list': (value) => {
    const rows = value.map((resource) => ({ ...resource, parents: resource.parents.join(', ') }))
    return { ...plainResult('resources', rows), value }
  },
  'spaces.list': (value) => {
    const rows = value.map((space) => ({ ...space, records: recordsText(space.records) }))
    return { ...plainResult('spaces', rows), value }
  },
  'records.list': recordsResult,
  'records.get': recordsResult,
  'records.add': recordsResult,
  'records.set': recordsResult,
}

/** Inputs that a terminal writes in another way: files, and a storm in parts. */
const INPUTS: { readonly [Name in VerbName]?: (given: Fields, at: ControlContext) => object } = {
  'settings.change': ({ 'name=value': pairs, ...given }) =>
    pairs === undefined ? given : readPatch(pairs as readonly string[]),
  'scenario.apply': ({ scenario }, { io }) => ({ scenario: readScenario(String(scenario), io.cwd) }),
  'storm.start'({ storm, ...parts }) {
    if (Object.keys(parts).length === 0) return { storm }
    if (storm === undefined) return { storm: parts }
    throw new Failure('USAGE', 'Give the storm as 0.3,for=30s or with --rate and --for, not both.')
  },
  'faults.add'({ rule }, { io }) {
    const reading = readFault(withFaultFile(String(rule), io.cwd))
    if ('problem' in reading) throw new Failure('USAGE', `${rule}: ${reading.problem}`)
    return { rule: reading.value }
  },
  'records.add': ({ record, ...given }, { io }) => ({ ...given, ...readRecord('record', record, io.cwd) }),
  'records.set': ({ change, ...given }, { io }) => ({ ...given, ...readRecord('change', change, io.cwd) }),
}

/** Verbs with a command of their own, in other files. */
const OWN_COMMANDS: readonly VerbName[] = [
  'export',
  'requests.list',
  'requests.har',
  'requests.replay',
  'conduct',
  'shutdown',
]

/** Adds the commands that verbs declare. */
export function addVerbs(commands: VerbCommands): void {
  for (const [name, verb] of Object.entries(VERBS) as readonly (readonly [VerbName, Verb])[])
    if (!OWN_COMMANDS.includes(name)) addVerb(commands, name, verb)
  for (const alias of Object.values(VERB_ALIASES)) addVerb(commands, alias.of, alias)
}

function addVerb({ add, call }: VerbCommands, name: VerbName, row: Verb | Omit<VerbAlias, 'of'>): void {
  const { command, summary } = row
  if (command === undefined) return
  const verb: Verb = VERBS[name]
  const syntax = { ...verb, example: {}, ...row }
  const { given = verb.defaults } = row as Partial<VerbAlias>
  const act = async (at: ControlContext, written: Fields) => {
    const input = { ...given, ...(INPUTS[name]?.(written, at) ?? written) }
    const output = await callInSpace(at.transport, name, verb.isOfSandbox === true ? '' : at.space, input)
    return await resultOf(name, output, input, at)
  }
  add(command, summary, [], syntax).action(call(act, syntax))
}

async function resultOf(name: VerbName, output: unknown, input: object, at: ControlContext): Promise<Result> {
  const format = FORMATS[name] as ((output: unknown, at: ControlContext) => Result | Promise<Result>) | undefined
  if (format !== undefined) return await format(output, at)
  if (VERBS[name].method === 'GET') return plainResult(name.split('.')[0], output)
  return { value: output, text: escapeControls(verbText({ name, input, output })) }
}

export function addExport({ add, call }: VerbCommands): void {
  add('export', VERBS.export.summary, ['export --as flags'])
    .addOption(new Option('--as <form>', 'which of them').choices(['scenario', 'flags', 'test']))
    .action(
      call(async ({ controls }, { as = 'scenario' }: { readonly as?: 'scenario' | 'flags' | 'test' }) => {
        const value = await controls.export()
        const missing = value.notExportable.join(', ')
        const note = missing === '' ? {} : { note: `note: not exportable: ${missing}.` }
        return { value, text: value[as].trimEnd(), ...note }
      }),
    )
}

/** Reads `ban-after=3`, `banAfter=3` or `no-rate-limit=true`. The sandbox checks the values. */
function readPatch(pairs: readonly string[]): Fields {
  const patch: Record<string, unknown> = {}
  for (const pair of pairs) {
    const [, written = '', text = ''] = /^([^=]+)=(.*)$/s.exec(pair) ?? []
    if (written === '')
      throw new Failure('USAGE', `${JSON.stringify(pair)} must be <name>=<value>, for example plan=pro`)
    const option = findOption(toCamelCase(written))
    if (option === undefined || !SETTING_NAMES.some((name) => name === option.name)) {
      const names = SETTING_NAMES.map(toKebabCase)
      const hint = `the settings are ${names.join(', ')}${didYouMean(written, names)}`
      throw new Failure('USAGE', `"${written}" is not a setting; ${hint}`)
    }
    if (Object.hasOwn(patch, option.name)) throw new Failure('USAGE', `"${written}" is given twice`)
    const isNone = OPTIONAL_SETTINGS.includes(option.name) && (text === NO_SETTING || text === '')
    const value = isNone ? null : valueFromText(optionRow(option.name).reads, text)
    patch[option.name] = option.negated && typeof value === 'boolean' ? !value : value
  }
  return patch
}

/** A file is read here because the sandbox may run elsewhere. @throws OptionsError that lists every problem */
function readScenario(nameOrFile: string, cwd: string): object {
  loadScenario(nameOrFile, cwd)
  if (packagedScenarios().includes(nameOrFile)) return { name: nameOrFile }
  const map = readYamlMap(readRegularFile(resolve(cwd, nameOrFile), MAX_OPTIONS_FILE_BYTES).toString(), nameOrFile)
  return Object.fromEntries('entries' in map ? map.entries : [])
}

/** More than the control plane accepts. */
const MAX_FIELDS_BYTES = 1_000_000

const FIELD = /^--([^-=][^=]*)(?:=(.*))?$/s

/** `{"name":"Rex"}`, `@rex.json`, or a flag for each field: `--name Rex --tag a --tag b`. The sandbox converts their texts. */
function readRecord(name: string, given: unknown, cwd: string): Fields {
  const words = [given ?? []].flat().map(String)
  const [first] = words
  if (first !== undefined && FIELD.exec(first) === null) {
    if (words.length === 1) return { [name]: readFields(first, cwd) }
    throw new Failure('USAGE', 'Give the fields as JSON, as @<file>, or each as --<field> <text>.')
  }
  const texts = new Map<string, string[]>()
  for (let at = 0; at < words.length; at++) {
    const [, field, text = ''] = FIELD.exec(words[at] ?? '') ?? []
    if (field === undefined)
      throw new Failure('USAGE', `${JSON.stringify(words[at])} has no field before it: --<field> <text>.`)
    const isAlone = words[at]?.includes('=') === true || FIELD.test(words[at + 1] ?? '--x')
    texts.set(field, [...(texts.get(field) ?? []), isAlone ? text || 'true' : (words[++at] ?? '')])
  }
  if (texts.size === 0)
    throw new Failure('USAGE', 'No fields are given. Give JSON, @<file>, or each field as --<field> <text>.')
  const fields = [...texts].map(([field, all]) => [field, all.length === 1 ? all[0] : all])
  return { [name]: Object.fromEntries(fields), asText: true }
}

function readFields(given: string, cwd: string): object {
  const isFile = given.startsWith('@')
  let text = given
  try {
    if (isFile) text = readInput(resolve(cwd, given.slice(1)), MAX_FIELDS_BYTES).toString()
  } catch (error) {
    throw new Failure('USAGE', `${given.slice(1)} cannot be read: ${describeOpenError(error)}`)
  }
  try {
    const value = parseShallowJson(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  } catch (error) {
    throw new Failure('USAGE', `The fields are not valid JSON: ${messageOf(error)}`)
  }
  throw new Failure('USAGE', 'The fields must be a JSON object.')
}

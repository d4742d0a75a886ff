import { resolve } from 'node:path'
import { parseShallowJson } from '../../contract/json.js'
import { Failure } from '../../domain/failures.js'
import { DEFAULT_SPACE } from '../../domain/keys.js'
import { counted, joinOr } from '../../domain/numbers.js'
import { OPTIONAL_SETTINGS, SETTING_NAMES } from '../../domain/settings.js'
import { didYouMean } from '../../domain/suggest.js'
import { valueFromText } from '../../options/layer.js'
import { toCamelCase, toKebabCase } from '../../options/letter-case.js'
import { findOption } from '../../options/names.js'
import { loadScenario } from '../../options/resolve.js'
import { packagedScenarios } from '../../options/scenario.js'
import { NO_SETTING } from '../../options/settings.js'
import { optionRow } from '../../options/table.js'
import { MAX_OPTIONS_FILE_BYTES, readYamlMap } from '../../options/yaml-map.js'
import { messageOf } from '../../system/message-of.js'
import { describeOpenError, readInput, readRegularFile } from '../../system/regular-file.js'
import {
  banText,
  clockResult,
  faultsResult,
  keysResult,
  overridesResult,
  plainResult,
  recordsResult,
  settingsResult,
  stateText,
  stormText,
} from './formatters.js'
import type { ControlContext, VerbCommands } from './verb-commands.js'

type Fields = Readonly<Record<string, unknown>>

/** A removal or unban that finds nothing succeeds. The given text may be a real key. */
const UNKNOWN_KEY = 'Unknown key.'

export function addSpaceVerbs({ add, call, verb }: VerbCommands): void {
  verb(
    'state',
    'status',
    'settings, clock, keys with their quotas and bans, storm, faults and counts',
    (value, { found }) => ({ value, text: (width) => stateText(value, found.controlUrl, width) }),
  )
  verb(
    'overrides.list',
    'overrides list',
    'list changes of storm, faults, clock, settings, bans, plans',
    async (value, { controls }) => overridesResult(value, await controls.clock.show()),
  )
  verb('overrides.clear', 'overrides clear', 'reset all overrides; pets, quotas and the log stay', ({ cleared }) =>
    cleared === 0 ? 'There were no overrides.' : `${counted(cleared, 'override')} cleared.`,
  )
  const exportDescription = 'the current settings as a scenario file, flags of serve, or test code'
  add('export [--as <form>]', exportDescription, ['export --as flags']).action(
    call(async ({ controls }, { as = 'scenario' }: { readonly as?: 'scenario' | 'flags' | 'test' }) => {
      const value = await controls.export()
      const missing = value.notExportable.join(', ')
      const note = missing === '' ? {} : { note: `note: not exportable: ${missing}.` }
      return { value, text: value[as].trimEnd(), ...note }
    }),
  )
  verb(
    'undo',
    'undo [--id <id>]',
    'undo the last reset, restore, scenario or removal, within a minute',
    ({ undone, requests }) =>
      `Undone: ${undone.replace('.', ' ')}.${requests === 0 ? '' : ` Also undone: ${counted(requests, 'request')} since then.`}`,
  )
  verb(
    'reset',
    'reset',
    'reset to the start: fixtures, flags, quotas, bans, clock, log',
    ({ space, pets }) => `Reset ${spaceText(space)} to its start, with ${counted(pets, 'pet')}.`,
  )

  verb('clock.show', 'clock show', 'show the time', clockResult)
  verb('clock.set', 'clock set <instant>', 'move the clock forward to an instant', clockResult)
  verb('clock.advance', 'clock advance <duration>', 'move the clock forward by a duration', clockResult)
  verb('clock.set', 'clock freeze', 'stop the clock', clockResult, () => ({ frozen: true }))
  verb('clock.set', 'clock resume', 'let the clock run again', clockResult, () => ({ frozen: false }))
  verb('clock.reset', 'clock reset', 'return to real time', clockResult)

  verb('settings.show', 'settings show', 'show all settings', settingsResult)
  const pairs = `name and value as for the flags of serve; the value none removes ${joinOr(OPTIONAL_SETTINGS.map(toKebabCase))}`
  add('settings set', 'change settings; if one is invalid, none changes', ['settings set plan=pro latency=50ms..200ms'])
    .argument('<name=value...>', pairs)
    .action(
      call(async ({ controls }, given: { readonly 'name=value': readonly string[] }) =>
        settingsResult(await controls.settings.change(readPatch(given['name=value']))),
      ),
    )
}

export function addKeyAndFaultVerbs({ verb }: VerbCommands): void {
  verb('keys.list', 'keys list', 'list all keys with plan, quotas and ban', keysResult)
  verb('keys.add', 'keys add <key> [plan]', 'add a key, and keep it in the store', keysResult)
  verb('keys.remove', 'keys remove <key>', 'remove a key', ({ removed }) =>
    removed === null ? UNKNOWN_KEY : `Key ${removed} removed.`,
  )
  verb('keys.change', 'plan <key> <plan>', 'change the plan of a key', keysResult)
  verb('keys.ban', 'ban <key> [--for <duration>]', 'ban a key (default duration: the setting ban-duration)', banText)
  verb('keys.unban', 'unban <key>', 'lift the ban of a key', (key) => (key === null ? UNKNOWN_KEY : banText(key)))

  verb(
    'storm.start',
    'storm start [spec] [--rate <rate>] [--for <duration>] [--every <duration>] [--retry-after <duration>]',
    'start a new storm; without a rate it refuses everything',
    (storm) => `Storm started: ${stormText(storm)}.`,
    ({ spec, ...given }: { readonly spec?: object }) => ({ ...spec, ...given }),
  )
  verb('storm.show', 'storm show', 'show the storm', async (value, { controls }) =>
    value === null
      ? { value, text: '', note: 'No storm is active.' }
      : { value, text: stormText(value, Date.parse((await controls.clock.show()).now)) },
  )
  verb('storm.stop', 'storm stop', 'stop the storm', () => 'Storm stopped.')
  verb('faults.add', 'fault add <rule>', 'add a rule at the end of the list; the first match wins', faultsResult)
  verb('faults.list', 'fault list', 'list the rules in order', faultsResult)
  verb('faults.clear', 'fault clear', 'remove all rules', () => 'All faults removed.')
  verb(
    'settings.change',
    'sunset <mode>',
    'set whether deprecated operations are removed',
    ({ sunset }) => `The setting sunset is now ${sunset}.`,
  )
  verb(
    'scenario.apply',
    'scenario <name|file>',
    'apply a scenario; other settings do not change',
    (_, __, { scenario }) => ('name' in scenario ? `Scenario ${scenario.name} applied.` : 'Scenario applied.'),
    ({ 'name|file': name }: { readonly 'name|file': string }, { io }) => ({ scenario: readScenario(name, io.cwd) }),
  )
}

export function addRecordVerbs({ verb }: VerbCommands): void {
  verb('orders.list', 'orders', 'list the orders, one per line; needs no key or quota', recordsResult)
  verb('pets.list', 'pets list [--limit <n>]', 'list all pets, newest first')
  const petFlags = '[--status <status>]'
  verb(
    'pets.add',
    `pets add --name <name> --category-id <id> ${petFlags}`,
    'add a pet',
    ({ id }) => `Pet ${id} added.`,
    ({ status, ...given }: Fields) => (status === undefined || status === 'none' ? given : { ...given, status }),
  )
  verb(
    'pets.set',
    `pets set <pet> [--name <name>] [--category-id <id>] ${petFlags}`,
    'change a pet',
    ({ id }) => `Pet ${id} changed.`,
    ({ status, ...given }: Fields) => {
      const change = status === undefined ? given : { ...given, status: status === 'none' ? null : status }
      if (Object.keys(change).length > 1) return change
      throw new Failure('USAGE', 'Nothing to change. Give --name, --category-id or --status.')
    },
  )
  verb('pets.remove', 'pets remove <pet>', 'remove a pet; its id is not reused', ({ removed }, _, { id }) =>
    removed === null ? `There is no pet ${id}.` : `Pet ${removed} removed.`,
  )

  verb('resources.list', 'resources list', 'list the resources', (value) => ({
    ...plainResult(
      'resources',
      value.map((resource) => ({ ...resource, parents: resource.parents.join(', ') })),
    ),
    value,
  }))
  const listRecords = 'resources records <resource> [--limit <n>]'
  verb('records.list', listRecords, 'list the records of a resource, newest first', recordsResult)
  const withFields =
    (name: string) =>
    ({ fields, ...given }: { readonly fields: string }, { io }: ControlContext) => ({
      ...given,
      [name]: readFields(fields, io.cwd),
    })
  verb('records.add', 'resources add <resource> <fields>', 'add a record', recordsResult, withFields('record'))
  const setRecord = 'resources set <resource> <id> <fields>'
  const setDescription = 'change fields of a record; null removes one'
  verb('records.set', setRecord, setDescription, recordsResult, withFields('change'))
  verb(
    'records.remove',
    'resources remove <resource> <id>',
    'remove a record and its nested records',
    ({ removed }, _, { resource, id }) =>
      removed === null ? `${resource} has no record ${id}.` : `Record ${removed} of ${resource} removed.`,
  )
}

export function addSandboxVerbs({ verb }: VerbCommands): void {
  verb(
    'snapshots.save',
    'snapshot save <name>',
    'save a snapshot, replacing one with the same name',
    ({ name }) => `Snapshot ${name} saved.`,
  )
  verb(
    'snapshots.restore',
    'snapshot restore <name>',
    'restore all state except the log',
    ({ name }) => `Snapshot ${name} restored.`,
  )
  verb('snapshots.list', 'snapshot list', 'list the snapshots')
  verb('snapshots.remove', 'snapshot remove <name>', 'remove a snapshot', ({ removed }, _, { name }) =>
    removed === null ? `There is no snapshot ${name}.` : `Snapshot ${name} removed.`,
  )

  verb('spaces.list', 'spaces list', 'list the open spaces except the default one')
  verb(
    'spaces.remove',
    'spaces remove <name>',
    'remove a space and everything in it; its next request opens a new one',
    ({ removed }, _, { name }) => (removed === null ? `There is no space ${name}.` : `Space ${name} removed.`),
  )
  verb(
    'spaces.copy',
    'spaces copy [name]',
    'make the space of --space a copy of another, or of the default one',
    ({ space, pets }, _, { name }) => `Copied ${spaceText(name)} to ${spaceText(space)}, with ${counted(pets, 'pet')}.`,
    ({ name = DEFAULT_SPACE }: { readonly name?: string }) => ({ name }),
  )
  verb('replicas', 'replicas [--digest]', 'list the replicas of this sandbox and their positions')
}

function spaceText(name: string): string {
  return name === '' || name === DEFAULT_SPACE ? 'the default space' : `the space ${name}`
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

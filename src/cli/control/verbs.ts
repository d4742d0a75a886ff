import { resolve } from 'node:path'
import { Argument, type Command, InvalidArgumentError, Option } from 'commander'
import type { PetStatus } from '../../contract/entities.js'
import type { Int64 } from '../../contract/int64.js'
import { parseShallowJson, stringifyJson } from '../../contract/json.js'
import type { KeyView } from '../../control/views.js'
import { DEFAULT_SPACE, PLAN_NAMES } from '../../domain/keys.js'
import { PET_STATUSES } from '../../domain/pets.js'
import { OPTIONAL_SETTINGS, SUNSET_MODES, type SunsetMode } from '../../domain/settings.js'
import { didYouMean } from '../../domain/suggest.js'
import { formatDuration } from '../../domain/time.js'
import { valueFromText } from '../../options/layer.js'
import { toCamelCase, toKebabCase } from '../../options/letter-case.js'
import { findOption } from '../../options/names.js'
import type { ScenarioContent, SettingsPatch, StormOption } from '../../options/options.js'
import { packagedScenarios } from '../../options/scenario.js'
import { loadScenario } from '../../options/scenario-file.js'
import { NO_SETTING } from '../../options/settings.js'
import { optionRow } from '../../options/table.js'
import { readStorm } from '../../options/values/faults.js'
import { joinOr } from '../../options/values/reading.js'
import { MAX_OPTIONS_FILE_BYTES, readYamlMap } from '../../options/yaml-map.js'
import { messageOf } from '../../system/message-of.js'
import { describeOpenError, readInput, readRegularFile } from '../../system/regular-file.js'
import { escapeControls } from '../escape-controls.js'
import { count, defined, durationText, faultRule, instantText, int64, rate } from './arguments.js'
import { UsageError } from './find-sandbox.js'
import {
  clockText,
  faultsResult,
  keysResult,
  overrideText,
  petsResult,
  recordsResult,
  replicasResult,
  settingRows,
  stateText,
  stormText,
} from './formatters.js'
import { done, type Result, tableResult } from './result.js'
import { aligned } from './table.js'
import type { VerbCommands } from './verb-commands.js'

const KEY = 'an API key; sandbox-pro~checkout is the key sandbox-pro in the space checkout'

export function addVerbs(parent: Command, verbs: VerbCommands): void {
  addStateVerbs(parent, verbs)
  addClockVerbs(parent, verbs)
  addSettingsVerbs(parent, verbs)
  addKeyVerbs(parent, verbs)
  addFaultVerbs(parent, verbs)
  addPetVerbs(parent, verbs)
  addResourceVerbs(parent, verbs)
  addSnapshotVerbs(parent, verbs)
  addSandboxVerbs(parent, verbs)
}

function addStateVerbs(parent: Command, { group, verb, call, run }: VerbCommands): void {
  verb(parent, 'status', 'settings, clock, keys with their quotas and bans, storm, faults and counts', [
    'status',
    'status --space checkout -o json',
  ]).action(
    run('state', (value, _, { found }) => ({ value, text: (width) => stateText(value, found.controlUrl, width) })),
  )
  const overrides = group(parent, 'overrides', 'changes from the start configuration')
  verb(overrides, 'list', 'list changes of storm, faults, clock, settings, bans, plans').action(
    run('overrides.list', async (value, _, { controls }) => {
      const now = Date.parse((await controls.clock.show()).now)
      const text = value.map((override) => overrideText(override, now)).join('\n')
      return { value, text, ...(value.length === 0 ? { note: 'No changes from the start configuration.' } : {}) }
    }),
  )
  verb(overrides, 'clear', 'reset all overrides; pets, quotas and the log stay').action(
    run('overrides.clear', ({ cleared }) =>
      cleared === 0 ? 'There was nothing to clear.' : 'All overrides are cleared.',
    ),
  )
  verb(parent, 'export', 'the current settings as a scenario file, flags of serve, or test code', [
    'export > bad-day.yaml',
    'export --as flags',
    'export --as test',
  ])
    .addOption(
      new Option('--as <form>', 'scenario, flags or test').choices(['scenario', 'flags', 'test']).default('scenario'),
    )
    .action(
      call(async ({ controls }, { as }: { readonly as: 'scenario' | 'flags' | 'test' }) => {
        const value = await controls.export()
        const missing = value.notExportable.join(', ')
        const note = `note: not exportable: ${missing}.`
        return { value, text: value[as].trimEnd(), ...(missing === '' ? {} : { note }) }
      }),
    )
  verb(parent, 'undo', 'undo the last reset, restore, scenario or removal, within a minute', ['undo', 'undo --id 42'])
    .option('--id <id>', 'undo only if this verb was the last (see status -o json)', count)
    .action(run('undo', ({ undone }) => `Undone: ${undone.replace('.', ' ')}.`))
  verb(parent, 'reset', 'reset to the start: fixtures, flags, quotas, bans, clock, log', [
    'reset',
    'reset --space checkout',
  ]).action(
    run('reset', (_, __, { space }) =>
      done(`${space === '' ? 'The sandbox' : `The space "${space}"`} has been reset.`, { space }),
    ),
  )
}

function addClockVerbs(parent: Command, { group, verb, run }: VerbCommands): void {
  const clock = group(parent, 'clock', 'the clock behind quotas, bans, storms and the sunset')
  verb(clock, 'show', 'show the time').action(run('clock.show', clockText))
  verb(clock, 'set', 'move the clock forward to an instant', ['clock set 2030-12-04T23:59:00Z'])
    .argument('<instant>', 'ISO 8601, with Z or an offset', instantText)
    .action(run('clock.set', clockText, (now: string) => ({ now })))
  verb(clock, 'advance', 'move the clock forward by a duration', ['clock advance 1m', 'clock advance 24h'])
    .argument('<duration>', 'how far: 500ms, 30s, 5m or 24h', durationText)
    .action(run('clock.advance', clockText, (by: string) => ({ by })))
  verb(clock, 'freeze', 'stop the clock').action(run('clock.set', clockText, () => ({ frozen: true })))
  verb(clock, 'resume', 'let the clock run again').action(run('clock.set', clockText, () => ({ frozen: false })))
  verb(clock, 'reset', 'return to real time').action(run('clock.reset', clockText))
}

function addSettingsVerbs(parent: Command, { group, verb, call, run }: VerbCommands): void {
  const settings = group(parent, 'settings', 'the settings of a space')
  const view = (value: object): Result => ({ value, text: (width) => aligned(settingRows(value), width) })
  verb(settings, 'show', 'show all settings').action(run('settings.show', view))
  verb(settings, 'set', 'change settings; if one is invalid, none changes', [
    'settings set plan=pro latency=50ms..200ms',
    'settings set limits=none rate-limit=off',
  ])
    .argument(
      '<name=value...>',
      `name and value as for the flags of serve; the value none removes ${joinOr(OPTIONAL_SETTINGS.map(toKebabCase))}`,
    )
    .action(
      call(async ({ controls }, pairs: readonly string[]) => {
        const known = new Set([...Object.keys(await controls.settings.show()), ...OPTIONAL_SETTINGS])
        return view(await controls.settings.change(readPatch(pairs, [...known])))
      }),
    )
}

/** Reads `ban-after=3`, `banAfter=3` or `no-rate-limit=true`. The sandbox checks the values. */
function readPatch(pairs: readonly string[], known: readonly string[]): SettingsPatch {
  const patch: Record<string, unknown> = {}
  for (const pair of pairs) {
    const [, written = '', text = ''] = /^([^=]+)=(.*)$/s.exec(pair) ?? []
    if (written === '') throw new UsageError(`${JSON.stringify(pair)} must be <name>=<value>, for example plan=pro`)
    const option = findOption(toCamelCase(written))
    if (option === undefined || !known.includes(option.name)) {
      const names = known.map(toKebabCase)
      const hint = `the settings are ${names.join(', ')}${didYouMean(written, names)}`
      throw new UsageError(`"${written}" is not a setting; ${hint}`)
    }
    if (Object.hasOwn(patch, option.name)) throw new UsageError(`"${written}" is given twice`)
    const isNone = OPTIONAL_SETTINGS.includes(option.name) && (text === NO_SETTING || text === '')
    const value = isNone ? null : valueFromText(optionRow(option.name).reads, text)
    patch[option.name] = option.negated && typeof value === 'boolean' ? !value : value
  }
  return patch
}

function addKeyVerbs(parent: Command, { group, verb, run }: VerbCommands): void {
  const keys = group(parent, 'keys', 'the API keys')
  const one = (value: KeyView) => keysResult(value, [value])
  verb(keys, 'list', 'list all keys with plan, quotas and ban').action(
    run('keys.list', (value) => keysResult(value, value)),
  )
  verb(keys, 'add', 'add a key, and keep it in the store', ['keys add team-a', 'keys add team-b pro'])
    .argument('<key>', 'the new key')
    .addArgument(new Argument('[plan]', 'its plan').choices(PLAN_NAMES).default('free'))
    .action(run('keys.add', one))
  verb(keys, 'remove', 'remove a key', ['keys remove team-a'])
    .argument('<key>', KEY)
    .action(run('keys.remove', (value, { key }) => removal(`key ${key}`, value)))
  verb(parent, 'plan', 'change the plan of a key', ['plan sandbox pro'])
    .argument('<key>', KEY)
    .addArgument(new Argument('<plan>', 'the plan').choices(PLAN_NAMES))
    .action(run('keys.change', one))
  verb(parent, 'ban', 'ban a key', ['ban sandbox', 'ban sandbox --for 30s'])
    .argument('<key>', KEY)
    .option('--for <duration>', 'duration (default: the setting ban-duration)', durationText)
    .action(run('keys.ban', one))
  verb(parent, 'unban', 'lift the ban of a key', ['unban sandbox'])
    .argument('<key>', KEY)
    .action(
      run('keys.unban', (value, { key }) =>
        value === null ? { value, text: escapeControls(unknown(`key ${key}`)) } : one(value),
      ),
    )
}

function addFaultVerbs(parent: Command, { group, verb, call, run }: VerbCommands): void {
  const storm = group(parent, 'storm', 'random 429 responses')
  verb(storm, 'start', 'start a new storm; without a rate it refuses everything', [
    'storm start',
    'storm start 0.3,for=30s',
    'storm start --rate 0.3 --for 30s --every 5m',
  ])
    .argument('[spec]', '<rate>[,for=30s][,every=5m][,retry-after=2s], as for serve', stormOption)
    .option('--rate <rate>', 'share of requests refused, 0 to 1', rate)
    .option('--for <duration>', 'duration', durationText)
    .option('--every <duration>', 'interval between starts of the storm', durationText)
    .option('--retry-after <duration>', 'Retry-After of refused requests', durationText)
    .action(
      run('storm.start', stormText, (spec: StormOption | undefined, { rate, for: length, every, retryAfter }) => ({
        ...spec,
        ...defined({ rate, for: length, every, retryAfter }),
      })),
    )
  verb(storm, 'show', 'show the storm').action(
    run('storm.show', async (value, _, { controls }) =>
      value === null
        ? { value, text: '', note: 'No storm is active.' }
        : stormText(value, Date.parse((await controls.clock.show()).now)),
    ),
  )
  verb(storm, 'stop', 'stop the storm').action(run('storm.stop', () => done('The storm has stopped.')))
  const fault = group(parent, 'fault', 'failing and broken responses', 'faults')
  verb(fault, 'add', 'add a rule at the end of the list; the first match wins', [
    "fault add 'listPets:503@20%*3'",
    "fault add '*:connection-reset'",
    'fault add createPet:503,retry-after=2s',
  ])
    .argument('<rule>', '<operation|*>:<status or fault>[@20%][*3][,retry-after=2s][,after], as for serve', faultRule)
    .action(run('faults.add', faultsResult))
  verb(fault, 'list', 'list the rules in order').action(run('faults.list', faultsResult))
  verb(fault, 'clear', 'remove all rules').action(run('faults.clear', () => done('All faults were removed.')))
  verb(parent, 'sunset', 'set whether deprecated operations are removed', ['sunset after', 'sunset auto'])
    .addArgument(new Argument('<mode>', 'see "Removal and brownouts" in docs/switches.md').choices(SUNSET_MODES))
    .action(
      run(
        'settings.change',
        ({ sunset }) => sunset,
        (sunset: SunsetMode) => ({ sunset }),
      ),
    )
  verb(parent, 'scenario', 'apply a scenario; other settings do not change', [
    'scenario storm',
    'scenario ./black-friday.yaml',
  ])
    .argument('<name|file>', `packaged scenario (${packagedScenarios().join(', ')}) or YAML file`)
    .action(
      call(async ({ controls, io }, nameOrFile: string) => {
        const value = await controls.scenario(readScenario(nameOrFile, io.cwd))
        return { value, text: `Applied the scenario ${escapeControls(nameOrFile)}.` }
      }),
    )
}

function stormOption(text: string): StormOption {
  const reading = readStorm(text)
  if ('problem' in reading) throw new InvalidArgumentError(reading.problem)
  const { rate, ...durations } = reading.value
  const texts = Object.entries(durations).map(([name, duration]) => [name, formatDuration(duration)])
  return { rate, ...Object.fromEntries(texts) }
}

/** A file is read here because the sandbox may run elsewhere. @throws OptionsError that lists every problem */
function readScenario(nameOrFile: string, cwd: string): string | ScenarioContent {
  loadScenario(nameOrFile, cwd)
  if (packagedScenarios().includes(nameOrFile)) return nameOrFile
  const map = readYamlMap(readRegularFile(resolve(cwd, nameOrFile), MAX_OPTIONS_FILE_BYTES).toString(), nameOrFile)
  return Object.fromEntries('entries' in map ? map.entries : [])
}

const spaceText = (name: string) => (name === '' || name === DEFAULT_SPACE ? 'default space' : `space ${name}`)

const unknown = (what: string) => `The ${what} does not exist.`

function removal(what: string, value: { readonly removed: unknown }): Result {
  return done(value.removed === null ? unknown(what) : `The ${what} is removed.`, value)
}

function addPetVerbs(parent: Command, { group, verb, run }: VerbCommands): void {
  verb(parent, 'orders', 'list the orders, one per line; needs no key or quota', ['orders', 'orders -o json']).action(
    run('orders.list', (value) => value.map((order) => stringifyJson(order)).join('\n')),
  )
  const pets = group(parent, 'pets', 'the pets; needs no key or quota')
  verb(pets, 'list', 'list all pets, newest first', ['pets list', 'pets list --limit 10 -o json'])
    .option('--limit <n>', 'only the first n', count)
    .action(run('pets.list', petsResult))
  verb(pets, 'add', 'add a pet', ['pets add --name Rex --category-id 1 --status sold'])
    .requiredOption('--name <name>', 'its name')
    .requiredOption('--category-id <id>', 'its category id', int64)
    .addOption(new Option('--status <status>', 'its status').choices(PET_STATUSES))
    .action(run('pets.add', (pet) => petsResult([pet])))
  verb(pets, 'set', 'change a pet', ['pets set 1 --status sold', 'pets set 1 --name Rex --status none'])
    .argument('<id>', 'its id', int64)
    .option('--name <name>', 'its name')
    .option('--category-id <id>', 'its category id', int64)
    .addOption(new Option('--status <status>', 'its status; none removes it').choices([...PET_STATUSES, 'none']))
    .action(
      run(
        'pets.set',
        (pet) => petsResult([pet]),
        (id: Int64, { name, categoryId, status }: PetFlags) => {
          const change = defined({ name, categoryId, status: status === 'none' ? null : status })
          if (Object.keys(change).length > 0) return { id, ...change }
          throw new UsageError('Nothing to change. Give --name, --category-id or --status.')
        },
      ),
    )
  verb(pets, 'remove', 'remove a pet; its id is not reused', ['pets remove 1'])
    .argument('<id>', 'its id', int64)
    .action(run('pets.remove', (value, { id }) => removal(`pet ${id}`, value)))
}

interface PetFlags {
  readonly name?: string
  readonly categoryId?: Int64
  readonly status?: PetStatus | 'none'
}

const FIELDS = 'its fields as JSON, or @<file>'

function addResourceVerbs(parent: Command, { group, verb, call, run }: VerbCommands): void {
  const resources = group(parent, 'resources', 'records of any resource of the contract; needs neither key nor quota')
  verb(resources, 'list', 'list the resources').action(
    run('resources.list', (value) => {
      const rows = value.map(({ name, path, records }) => [escapeControls(name), escapeControls(path), String(records)])
      return tableResult(value, ['resource', 'path', 'records'], rows, 'The contract has no resources.')
    }),
  )
  verb(resources, 'records', 'list the records of a resource, newest first', [
    'resources records categories --limit 10',
  ])
    .argument('<resource>', 'name of the resource, as in "resources list"')
    .option('--limit <n>', 'only the first n', count)
    .action(run('records.list', recordsResult))
  verb(resources, 'add', 'add a record', [
    `resources add categories '{"name":"dogs"}'`,
    'resources add categories @dogs.json',
  ])
    .argument('<resource>', 'name of the resource, as in "resources list"')
    .argument('<fields>', FIELDS)
    .action(
      call(async ({ controls, io }, resource: string, fields: string) =>
        recordsResult([await controls.resource(resource).add(readFields(fields, io.cwd))]),
      ),
    )
  verb(resources, 'set', 'change fields of a record; null removes one', [
    `resources set categories 1 '{"name":"cats"}'`,
  ])
    .argument('<resource>', 'name of the resource, as in "resources list"')
    .argument('<id>', 'id of the record')
    .argument('<fields>', FIELDS)
    .action(
      call(async ({ controls, io }, resource: string, id: string, fields: string) =>
        recordsResult([await controls.resource(resource).set(id, readFields(fields, io.cwd))]),
      ),
    )
  verb(resources, 'remove', 'remove a record and its nested records', ['resources remove categories 1'])
    .argument('<resource>', 'name of the resource, as in "resources list"')
    .argument('<id>', 'id of the record')
    .action(run('records.remove', (value, { resource, id }) => removal(`record ${id} of ${resource}`, value)))
}

function readFields(given: string, cwd: string): object {
  const isFile = given.startsWith('@')
  let text = given
  try {
    if (isFile) text = readInput(resolve(cwd, given.slice(1)), MAX_FIELDS_BYTES).toString()
  } catch (error) {
    throw new UsageError(`${given.slice(1)} cannot be read: ${describeOpenError(error)}`)
  }
  try {
    const value = parseShallowJson(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  } catch (error) {
    throw new UsageError(`The fields are not valid JSON: ${messageOf(error)}`)
  }
  throw new UsageError('The fields must be a JSON object.')
}

/** More than the control plane accepts. */
const MAX_FIELDS_BYTES = 1_000_000

function addSnapshotVerbs(parent: Command, { group, verb, run }: VerbCommands): void {
  const snapshot = group(parent, 'snapshot', 'the whole state of a space, saved under a name', 'snapshots')
  verb(snapshot, 'save', 'save a snapshot, replacing one with the same name', ['snapshot save full-basket'])
    .argument('<name>', 'letters, digits and . _ -')
    .action(run('snapshots.save', (_, { name }) => done(`Saved the snapshot ${name}.`, { name })))
  verb(snapshot, 'restore', 'restore all state except the log', ['snapshot restore full-basket'])
    .argument('<name>', 'its name')
    .action(run('snapshots.restore', (_, { name }) => done(`Restored the snapshot ${name}.`, { name })))
  verb(snapshot, 'list', 'list the snapshots').action(
    run('snapshots.list', (snapshots) => {
      const value = snapshots.map(({ name }) => name)
      const note = value.length === 0 ? { note: 'No snapshots.' } : {}
      return { value, text: value.map(escapeControls).join('\n'), ...note }
    }),
  )
  verb(snapshot, 'remove', 'remove a snapshot', ['snapshot remove full-basket'])
    .argument('<name>', 'its name')
    .action(run('snapshots.remove', (value, { name }) => removal(`snapshot ${name}`, value)))
}

function addSandboxVerbs(parent: Command, { group, verb, run }: VerbCommands): void {
  const spaces = group(parent, 'spaces', 'isolated copies, opened by keys such as sandbox~checkout')
  verb(spaces, 'list', 'list the open spaces except the default one').action(
    run('spaces.list', (value) => {
      const rows = value.map(({ name, pets, requests }) => [name, String(pets), String(requests)])
      return tableResult(value, ['space', 'pets', 'requests'], rows, 'Only the default space is open.')
    }),
  )
  verb(spaces, 'remove', 'remove a space and everything in it; its next request opens a new one', [
    'spaces remove checkout',
  ])
    .argument('<name>', 'its name')
    .action(run('spaces.remove', (value, { name }) => removal(`space ${name}`, value)))
  verb(spaces, 'copy', 'make the space of --space a copy of another; its log stays', [
    'spaces copy prepared --space checkout',
    'spaces copy --space checkout',
  ])
    .argument('[name]', 'the space to copy (default: the default space)')
    .action(
      run(
        'spaces.copy',
        (value, { name }) => done(`The ${spaceText(value.space)} is now a copy of the ${spaceText(name)}.`, value),
        (name = DEFAULT_SPACE) => ({ name }),
      ),
    )
  verb(parent, 'replicas', 'list the replicas of this sandbox and their positions')
    .option('--digest', 'also print a digest of the state of this replica')
    .action(run('replicas', replicasResult))
}

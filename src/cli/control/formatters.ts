import { stringifyJson } from '../../contract/json.js'
import { CONTROL_PATH } from '../../control/path.js'
import { stormText } from '../../control/texts.js'
import type {
  ClockView,
  ExplanationView,
  FaultView,
  KeyView,
  OperationsView,
  OverrideView,
  StateView,
  StormView,
} from '../../control/views.js'
import { formatFaultRule } from '../../domain/faults.js'
import { counted, recordsText } from '../../domain/numbers.js'
import { spacePath } from '../../domain/space-address.js'
import { isStormActive } from '../../domain/storm.js'
import { type EpochMs, formatSpan, parseDuration } from '../../domain/time.js'
import { toKebabCase } from '../../options/letter-case.js'
import type { SettingsView } from '../../options/options.js'
import { settingText } from '../../options/settings.js'
import { escapeControls, wrapRows } from '../print.js'
import { aligned, table, toRows } from '../table.js'
import { type Result, tableResult } from './result.js'

/** Without milliseconds, which do not matter in a table. */
function seconds(instant: string): string {
  return instant.replace(/\.\d{3}Z$/, 'Z')
}

function clockText({ now, frozen }: ClockView): string {
  return now + (frozen ? ' (frozen)' : '')
}

export function clockResult(value: ClockView): Result {
  return { value, text: clockText(value) }
}

export function serviceUrl(controlUrl: string, { basePath, space }: Pick<StateView, 'basePath' | 'space'>): string {
  return controlUrl.slice(0, -CONTROL_PATH.length) + spacePath(space) + basePath
}

export function stateText(state: StateView, controlUrl: string, width: number): string {
  const { space, clock, storm, faults, overrides, upstream, operations, counts, keys, settings } = state
  const now = Date.parse(clock.now)
  const active = new Set(state.active.filter(({ isOff }) => !isOff).map(({ what, name }) => what === 'setting' && name))
  const changed = Object.entries(settings).filter(
    ([name, value]) => active.has(name) || (name === 'senders' && value !== null),
  )
  const facts: readonly (readonly [string, string])[] = [
    ['service', serviceUrl(controlUrl, state)],
    ['control', controlUrl],
    ...(upstream === null ? [] : [['upstream', `${upstream.baseUrl}, ${upstream.writes} writes`] as const]),
    ['space', space === '' ? 'the default one' : space],
    ['clock', clockText({ ...clock, now: seconds(clock.now) })],
    [
      'settings',
      changed.map(([name, value]) => `${toKebabCase(name)}=${settingText(value)}`).join(' ') || 'the defaults',
    ],
    ['overrides', overrides.map((override) => overrideText(override, now)).join(' · ') || 'none'],
    ['storm', storm === null ? 'none' : stormStateText(storm, now)],
    ['faults', faults.map(faultText).join(' ') || 'none'],
    ...operationsFact(operations),
    [
      'counts',
      `${recordsText(counts.records)}, ${counted(counts.requests, 'request')}, ${counted(counts.spaces, 'more space')}`,
    ],
  ]
  const gap = ' '.repeat(Math.max(...facts.map(([name]) => name.length)) + 2)
  const rows = facts.map(([name, text]) => [
    name.padEnd(gap.length),
    wrapRows(text, width - gap.length).join(`\n${gap}`),
  ])
  return `${rows.map((row) => row.join('')).join('\n')}\n\n${keyTable(keys, width)}`
}

export function explanationText({ resources, operations }: ExplanationView): string {
  const blocks = resources.map(({ name, path, record, id, envelope, list, parents }) => {
    const above = parents.map((parent) => `${parent.parameter} of ${parent.resource ?? 'anything'}`).join(', ')
    const facts = [
      ['record', record],
      ['id', `${id.property}, because ${id.because}`],
      ['envelope', envelope || 'none'],
      ['list', list ?? 'none'],
      ['parents', above || 'none'],
    ]
    return `${escapeControls(`${name}  ${path}`)}\n${aligned(facts.map(([fact = '', text = '']) => [`  ${fact}`, text]))}`
  })
  const rows = operations.map(({ operation, method, path, stateful, because }) => [
    operation,
    `${method} ${path}`,
    stateful ? 'stateful' : 'mocked',
    because,
  ])
  return [...blocks, table(['operation', 'request', 'is', 'because'], rows)].join('\n\n')
}

function faultText(fault: FaultView): string {
  return formatFaultRule(fault) + (fault.left === 0 ? ' (used up)' : '')
}

function operationsFact({ stateful, mocked }: OperationsView): readonly (readonly [string, string])[] {
  if (mocked.length === 0) return []
  const names = mocked.map(({ operation }) => escapeControls(operation)).join(', ')
  return [['operations', `${stateful.length} stateful · ${mocked.length} mocked (${names})`]]
}

function overrideText({ text, until }: OverrideView, now: EpochMs): string {
  return until === null ? text : `${text}, ${formatSpan(Math.max(0, Date.parse(until) - now))} left`
}

export function overridesResult(value: readonly OverrideView[], clock: ClockView): Result {
  const text = value.map((override) => overrideText(override, Date.parse(clock.now))).join('\n')
  return { value, text, ...(value.length === 0 && { note: 'No changes from the start configuration.' }) }
}

export function settingsResult(value: SettingsView): Result {
  const rows = Object.entries(value).map(([name, setting]) => [toKebabCase(name), settingText(setting)])
  return { value, text: (width) => aligned(rows, width) }
}

export function keysResult(value: KeyView | readonly KeyView[]): Result {
  return { value, text: (width) => keyTable([value].flat(), width) }
}

function keyTable(keys: readonly KeyView[], width: number): string {
  const left = (window: KeyView['minute']) => (window === null ? '' : `${window.remaining}/${window.limit}`)
  const columns: readonly (readonly [title: string, of: (key: KeyView) => string])[] = [
    ['key', ({ key }) => key],
    ['plan', ({ plan }) => plan ?? ''],
    ['left/minute', ({ minute }) => left(minute)],
    ['left/day', ({ day }) => left(day)],
    [
      'ban',
      ({ always, ban }) => (always !== null ? `always ${always}` : ban === null ? '' : `until ${seconds(ban.until)}`),
    ],
  ]
  // A contract without plans has no quotas to show.
  const shown = columns.filter(
    ([title, of]) => title === 'key' || title === 'ban' || keys.some((key) => of(key) !== ''),
  )
  return table(
    shown.map(([title]) => title),
    keys.map((key) => shown.map(([, of]) => of(key))),
    width,
    ['ban'],
  )
}

/** @param now by the clock of the space */
export function stormStateText(storm: StormView, now: EpochMs): string {
  const { startedAt, rate, for: length, every } = storm
  const facts = `${stormText(storm)}, since ${seconds(startedAt)}`
  const ms = (name: 'for' | 'every', text: string | null) => (text === null ? {} : { [name]: parseDuration(text) ?? 0 })
  const begin = Date.parse(startedAt)
  if (isStormActive({ rate, startedAt: begin, ...ms('for', length), ...ms('every', every) }, now)) return facts
  return facts + (every === null || now < begin ? '; it has ended' : '; quiet until it repeats')
}

export function faultsResult(value: readonly FaultView[]): Result {
  const rows = value.map((rule, index) => [
    String(index + 1),
    formatFaultRule(rule),
    rule.left === null ? 'unlimited' : String(rule.left),
  ])
  return tableResult(value, ['#', 'rule', 'left'], rows, 'No faults.')
}

/** @param what plural of its objects */
export function plainResult(what: string | undefined, value: unknown): Result {
  const { head, rows } = toRows(value) ?? { head: [], rows: [] }
  return tableResult(value, head, rows, `No ${what}.`)
}

/** One record a line, as JSON: each resource has fields of its own. */
export function recordsResult(value: unknown): Result {
  const records = [value].flat()
  const text = records.map((record) => escapeControls(stringifyJson(record) ?? '')).join('\n')
  return { value, text, ...(records.length === 0 && { note: 'No records.' }) }
}

import type { OptionalInput, VerbInput, VerbName, VerbOutput } from '../../control/verb-map.js'
import { type FaultRule, formatFaultRule } from '../../domain/faults.js'
import { counted, recordsText } from '../../domain/numbers.js'
import { callVerb } from '../control-api.js'
import * as session from './session.js'
import * as view from './state.js'
import { dateText, instantText, wholeSecond } from './texts.js'

/** More than a verb takes. */
const CLOCK_MOVE_MS = 60_000

/**
 * Calls a verb on the current space. Rejects if the sandbox refuses.
 * @param done announcement on success, with an undo
 */
export async function call<Name extends VerbName>(
  verb: Name,
  input: VerbInput<Name>,
  done?: string,
): Promise<VerbOutput<Name>> {
  const space = view.space.value
  const before = view.spaceTime.value ?? 0
  const { records = {}, requests = 0 } = view.state.value?.counts ?? {}
  const output = await session.lockIfAsked(callVerb(verb, space, ...([input] as OptionalInput<Name>)))
  if (verb === 'reset' || verb === 'requests.clear') session.dropLog()
  await Promise.all([session.readState(), session.readReports()])
  const undo = view.state.value?.undo
  const undone = undo?.verb === verb ? space : undefined
  const lost = verb === 'reset' ? ` It had ${recordsText(records)}, and ${counted(requests, 'request')}.` : ''
  if (done !== undefined) session.announce(done + lost + clockMove(verb, before), undone, undo?.id)
  return output
}

/** A scenario, a snapshot or a reset may move the clock by years. @param before the space's clock before the verb */
function clockMove(verb: VerbName, before: number): string {
  const now = view.spaceTime.value ?? 0
  if (verb.startsWith('clock.') || Math.abs(now - before) < CLOCK_MOVE_MS) return ''
  return ` The clock has moved ${now < before ? 'back' : 'forward'} to ${dateText(now)}, ${instantText(wholeSecond(now), now)}.`
}

/** @param id of the undo; undefined for a removed space */
export async function undo(space: string, id?: number): Promise<void> {
  view.toast.value = undefined
  session.announce('Undone.')
  const { requests } = await session.lockIfAsked(callVerb('undo', space, id === undefined ? {} : { id }))
  if (requests > 0) session.announce(`Undone, with what ${counted(requests, 'request')} since then changed.`)
  if (space !== view.space.value) return session.showSpace(space)
  void session.stayConnected()
  await session.readState()
}

/** @param to `real` for real time */
export function moveClock(to: VerbInput<'clock.set'> | 'real', moved = 'The clock has moved.'): Promise<unknown> {
  if (to === 'real') return call('clock.reset', {}, 'The clock shows real time.')
  return call('clock.set', to, to.frozen === undefined ? moved : `The clock is ${to.frozen ? 'frozen' : 'running'}.`)
}

export async function replay(id: number, change: Omit<VerbInput<'requests.replay'>, 'id'> = {}): Promise<void> {
  const again = await call('requests.replay', { id, ...change }, 'Request sent again.')
  if (again.space !== view.space.value) return
  session.take(again)
  session.select(again)
}

export const applyScenario = (name: string) =>
  call('scenario.apply', { scenario: { name } }, `The scenario ${name} is set.`)
export const resetSwitches = () => call('overrides.clear', {}, 'All switches are as at the start.')
export const resetAll = () => call('reset', {}, 'The space has been reset.')
export const clearLog = () => call('requests.clear', {}, 'The log is empty.')
export const unban = (key: string) => call('keys.unban', { key }, `The ban of ${key} is lifted.`)
export const changePlan = (key: string, plan: string) =>
  call('keys.change', { key, plan }, `${key} is on the plan ${plan}.`)

export function addFault(rule: FaultRule): Promise<unknown> {
  return call('faults.add', { rule }, `Armed: ${formatFaultRule(rule)}.`)
}

export function removeFault(id: string): Promise<unknown> {
  return call('faults.clear', { id }, 'The rule is removed.')
}

export function removeUsedFaults(): Promise<unknown> {
  const used = view.state.value?.faults.filter(({ left }) => left === 0) ?? []
  return call('faults.clear', { id: used.map(({ id }) => id).join() })
}

export async function removeSpace(name: string): Promise<void> {
  await session.lockIfAsked(callVerb('spaces.remove', '', { name }))
  if (name === view.space.value) session.showSpace('')
  else await session.readReports()
  session.announce(`The space ${name} is removed.`, name)
}

import { useSignal } from '@preact/signals'
import type { ActiveView, OverridesExport } from '../../control/views.js'
import { SETTINGS, type SettingName } from '../../domain/settings.js'
import { DAY_MS, formatDuration } from '../../domain/time.js'
import { wordOf } from '../../exchanges/exchange-filter.js'
import { CodeBlock, CopyButton } from '../content.js'
import { callVerb } from '../control-api.js'
import { CloseButton, Dialog, Menu } from '../ui.js'
import { call, moveClock, removeFault, removeUsedFaults, resetAll, resetSwitches } from './actions.js'
import { leftText } from './clock-menu.js'
import { ActionButton } from './fields.js'
import { nextStorm } from './obstacles.js'
import { filterBy, showTab } from './session.js'
import { clock, isNow, pageTime, space, spaceTime, state } from './state.js'
import { dateText, instantText, inZone } from './texts.js'

/** Every switch that changes responses, wherever it came from; the start options that are off are struck through. */
export function ActiveNow() {
  const now = spaceTime.value ?? 0
  const active = state.value?.active.filter((activeView) => isNow(activeView, now)) ?? []
  const used = state.value?.faults.filter(({ left }) => left === 0).length ?? 0
  const upstream = state.value?.upstream ?? null
  return (
    <section class="top active row" aria-label="Active now">
      <b>Active now</b>
      <ul class="row grow">
        {upstream === null ? null : <li class="tag">in front of {upstream.baseUrl}</li>}
        {active.length === 0 && upstream === null ? <li class="muted">The service answers as documented.</li> : null}
        {active.map((activeView) => (
          <Chip key={`${activeView.what} ${activeView.id ?? activeView.name}`} active={activeView} now={now} />
        ))}
        {used === 0 ? null : (
          <li class="muted">
            {used} used up ·{' '}
            <ActionButton class="plain" label="Clear the rules that are used up" act={removeUsedFaults}>
              clear
            </ActionButton>
          </li>
        )}
      </ul>
      <ShareButton />
      <Menu label="Reset">
        <ActionButton disabled={state.value?.overrides.length === 0} act={resetSwitches}>
          Switches and clock <span class="muted">as at the start; keeps the data, quotas and log</span>
        </ActionButton>
        <ActionButton act={resetAll}>
          Everything <span class="muted">data, quotas, bans and log too; keeps snapshots</span>
        </ActionButton>
      </Menu>
    </section>
  )
}

function Chip({ active, now }: { readonly active: ActiveView; readonly now: number }) {
  const { what, text, until, left, hits, origin, isOff } = active
  const again = what === 'storm' && !isOff ? nextStorm(state.value?.storm ?? null, now) : undefined
  // The log counts them.
  const { requests = 0, logged = 0 } = state.value?.counts ?? {}
  const facts = [
    // Days from real time say less than the date.
    what === 'clock' && !clock.value?.frozen && Math.abs(now - performance.timeOrigin - pageTime.value) > DAY_MS
      ? `clock on ${dateText(now)}`
      : inZone(text, now),
    ...(again === undefined ? [] : [`again at ${instantText(again, now)}`]),
    ...(left === null ? [] : [`${left} left`]),
    ...(until === null ? [] : [leftText(until, now)]),
    ...(hits ? [`hit ${hits}${requests > logged ? '+' : ''}`] : []),
  ]
  return (
    <li class={`chip ${what}`}>
      <button type="button" class="plain" onClick={() => showSwitch(active)}>
        {isOff ? <del>{text}</del> : facts.join(' · ')}
      </button>
      <span class="origin muted">{origin}</span>
      {what === 'option' ? null : isOff ? (
        <ActionButton class="plain" label={`Restore ${text}`} act={() => restore(active)}>
          restore
        </ActionButton>
      ) : (
        <ActionButton class="plain" label={`Switch off ${text}`} act={() => switchOff(active)}>
          ×
        </ActionButton>
      )}
    </li>
  )
}

/** The exchanges that it hit, or its control. */
function showSwitch({ what, name }: ActiveView): void {
  if (what === 'storm') filterBy('reason:storm')
  else if (what === 'fault') filterBy(wordOf('rule', name ?? ''))
  else if (what === 'clock') document.querySelector<HTMLElement>('#move-clock > summary')?.click()
  else if (what === 'setting') showTab('switches', `setting-${name}`)
  else if (what === 'option') showTab('switches')
  else showTab('keys', `key-${name}`)
}

function switchOff({ what, name, id, text }: ActiveView): Promise<unknown> {
  const key = name ?? ''
  const done = `Switched off: ${text}.`
  switch (what) {
    case 'storm':
      return call('storm.stop', {}, done)
    case 'fault':
      return removeFault(id ?? '')
    case 'clock':
      return moveClock('real')
    case 'setting':
      return call('settings.change', { [key]: defaultOf(key as SettingName) }, done)
    case 'ban':
      return call('keys.unban', { key }, done)
    default:
      return call('overrides.clear', { what: 'plan', name: key }, done)
  }
}

function defaultOf(name: SettingName): unknown {
  const row = SETTINGS[name]
  if ('unset' in row) return null
  return row.kind === 'wait' ? formatDuration(row.default) : row.default
}

function restore({ what, name, id, text }: ActiveView): Promise<unknown> {
  const kind = what === 'fault' ? 'faults' : what === 'setting' ? 'setting' : 'storm'
  const one = id ?? name
  return call('overrides.clear', { what: kind, ...(one !== null && { name: one }) }, `Restored: ${text}.`)
}

function ShareButton() {
  const exported = useSignal<OverridesExport | undefined>(undefined)
  const { scenario = '', flags = '', test = '', notExportable = [] } = exported.value ?? {}
  return (
    <>
      <ActionButton act={async () => (exported.value = await callVerb('export', space.value))}>Share…</ActionButton>
      {exported.value === undefined ? null : (
        <Dialog label="Share" isLarge onClose={() => (exported.value = undefined)}>
          <h2>Share this view</h2>
          <p>
            <CopyButton text={location.href}>Copy the link</CopyButton>
          </p>
          <h2>Start a sandbox with these switches</h2>
          <CodeBlock
            forms={{ 'Scenario file': () => scenario, 'Flags of serve': () => flags, 'Vitest test': () => test }}
          />
          {notExportable.length === 0 ? null : <p class="muted">Not exportable: {notExportable.join(', ')}.</p>}
          <div class="row end">
            <CloseButton>Close</CloseButton>
          </div>
        </Dialog>
      )}
    </>
  )
}

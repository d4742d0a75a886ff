import { useSignal } from '@preact/signals'
import type { OverridesExport, OverrideView } from '../../control/views.js'
import { callVerb, SANDBOX_ADDRESS } from '../control-api.js'
import { countdownText, timeText, zone } from '../format.js'
import { call, openSpace, showSpace, showTab, undo } from '../session.js'
import { Shell } from '../shell.js'
import { announcement, clock, connection, notice, showZone, space, spaces, spaceTime, state, toast } from '../state.js'
import { CloseButton, CopyButton, Dialog, Field, FormDialog, Pre, Toggle } from '../ui.js'
import { isHelpOpen } from './dialogs.js'
import { ActionButton, saveFile } from './fields.js'
import type { Tab } from './page-address.js'
import { dateText, inZone } from './texts.js'

export function Header() {
  const basePath = state.value?.basePath
  const base = basePath === undefined ? '…' : SANDBOX_ADDRESS + basePath
  return (
    <Shell page="Dashboard" space={space.value}>
      <h1 class="hidden">Dashboard</h1>
      <SpaceChooser />
      <span class={`connection ${connection} outcome ${CONNECTION_COLOURS[connection.value]}`} role="status">
        {connection.value === 'lost' ? 'disconnected' : connection}
      </span>
      <CopyButton text={base} label={`Copy the base URL ${base}`} class="plain mono address">
        {base}
      </CopyButton>
      <ClockControls />
      <button type="button" aria-label="Help" aria-haspopup="dialog" onClick={() => (isHelpOpen.value = true)}>
        ?
      </button>
    </Shell>
  )
}

const CONNECTION_COLOURS = { connecting: '', live: 'answered', lost: 'failed', locked: 'failed' } as const

const ANOTHER = '\n'

function SpaceChooser() {
  const isOpening = useSignal(false)
  const names = new Set([...spaces.value.map(({ name }) => name), space.value])
  return (
    <>
      <Field
        key={isOpening.value}
        aria-label="Space"
        value={space.value}
        choices={[['', 'default'], ...[...names].filter(Boolean), [ANOTHER, 'open another…']]}
        choose={(name) => {
          if (name === ANOTHER) isOpening.value = true
          else showSpace(name)
        }}
      />
      {isOpening.value ? (
        <FormDialog
          label="Open a space"
          submit="Open"
          onClose={() => (isOpening.value = false)}
          send={(field) => openSpace(field('name') ?? '')}
        >
          <Field
            label="Name of the space"
            class="stacked"
            name="name"
            required
            pattern="[A-Za-z0-9._\-]{1,64}"
            title="1 to 64 of A-Z a-z 0-9 . _ -"
          />
          <p class="muted">Append ~name to any key to use it. A space has its own pets, quotas, clock and log.</p>
        </FormDialog>
      ) : null}
    </>
  )
}

const EXPORTS = {
  'Scenario file': ['scenario', 'scenario.yaml'],
  'Flags of serve': ['flags', 'flags.txt'],
  'Vitest test': ['test', 'sandbox.test.ts'],
} as const
const EXPORT_TITLES = Object.keys(EXPORTS) as (keyof typeof EXPORTS)[]

function ExportButton() {
  const exported = useSignal<OverridesExport | undefined>(undefined)
  const title = useSignal<keyof typeof EXPORTS>('Scenario file')
  const [form, file] = EXPORTS[title.value]
  const text = exported.value?.[form] ?? ''
  const missing = exported.value?.notExportable ?? []
  return (
    <>
      <ActionButton act={async () => (exported.value = await callVerb('export', space.value))}>
        Export settings…
      </ActionButton>
      {exported.value === undefined ? null : (
        <Dialog label="Current settings" isLarge onClose={() => (exported.value = undefined)}>
          <h2>Current settings</h2>
          <Toggle label="Form" names={EXPORT_TITLES} value={title.value} choose={(name) => (title.value = name)} />
          <Pre>{text}</Pre>
          {missing.length === 0 ? null : <p class="muted">Not exportable: {missing.join(', ')}.</p>}
          <div class="row end">
            <CopyButton text={text}>Copy</CopyButton>
            <button type="button" onClick={() => saveFile(file, text)}>
              Save as {file}
            </button>
            <CloseButton>Close</CloseButton>
          </div>
        </Dialog>
      )}
    </>
  )
}

/** As shown, as sent, as spoken. */
const CLOCK_STEPS = [
  ['+1 s', '1s', '1 second'],
  ['+1 m', '1m', '1 minute'],
  ['+1 h', '1h', '1 hour'],
  ['+1 d', '24h', '1 day'],
] as const

function ClockControls() {
  const isFrozen = clock.value?.frozen ?? false
  const otherZone = zone.value === 'UTC' ? 'local' : 'UTC'
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be laid out as a flex row everywhere
    <div class="row push" id="clock" role="group" aria-label="Clock">
      <button type="button" class="plain" title={`Show ${otherZone} time`} onClick={() => showZone(otherZone)}>
        <ClockFace />
        <span class="hidden"> Show {otherZone} time</span>
      </button>
      <div class="row clock">
        {CLOCK_STEPS.map(([text, by, spoken]) => (
          <ActionButton
            key={by}
            label={`${text}: move the clock by ${spoken}`}
            act={() => call('clock.advance', { by }, `The clock has moved by ${spoken}.`)}
          >
            {text}
          </ActionButton>
        ))}
        <ActionButton
          act={() => call('clock.set', { frozen: !isFrozen }, `The clock is ${isFrozen ? 'running' : 'frozen'}.`)}
        >
          {isFrozen ? 'Resume' : 'Freeze'}
        </ActionButton>
        <ActionButton act={() => call('clock.reset', {}, 'The clock shows real time.')}>Real time</ActionButton>
      </div>
    </div>
  )
}

function ClockFace() {
  const now = spaceTime.value
  const isFrozen = clock.value?.frozen ?? false
  return (
    <time class={isFrozen ? 'face frozen' : 'face'} dateTime={now === undefined ? '' : new Date(now).toISOString()}>
      <strong>{now === undefined ? '--:--:--' : timeText(now)}</strong>
      <span>
        {now === undefined ? '' : dateText(now)} {zone}
        {isFrozen ? ', frozen' : ''}
      </span>
    </time>
  )
}

export function Messages() {
  return (
    <>
      <div class="messages" role="status">
        {connection.value === 'lost' ? (
          <p class="notice">The sandbox is not responding. This is its last known state; reconnecting …</p>
        ) : null}
        {notice.value === '' ? null : noticeWith(notice.value, 'Dismiss', () => (notice.value = ''))}
        {toast.value === undefined ? null : noticeWith(toast.value.text, 'Undo', undo)}
      </div>
      <p class="hidden" role="status">
        {announcement}
      </p>
    </>
  )
}

function noticeWith(text: string, name: string, act: () => unknown) {
  return (
    <p class="notice row">
      {text}{' '}
      <button type="button" onClick={act}>
        {name}
      </button>
    </p>
  )
}

const PLACES: Readonly<Record<OverrideView['what'], readonly [tab: Tab | undefined, id: string]>> = {
  storm: ['break', 'storm'],
  faults: ['break', 'faults'],
  setting: ['break', 'setting'],
  clock: [undefined, 'clock'],
  ban: ['keys', 'key'],
  plan: ['keys', 'key'],
}

function showControl({ what, name }: OverrideView): void {
  const [tab, id] = PLACES[what]
  if (tab === undefined) document.getElementById(id)?.querySelector('button')?.focus()
  else showTab(tab, name === null ? id : `${id}-${name}`)
}

export function InEffect() {
  const now = spaceTime.value ?? 0
  const overrides = state.value?.overrides.filter(({ until }) => until === null || Date.parse(until) > now) ?? []
  const upstream = state.value?.upstream ?? null
  return (
    <section class="top strip-in-effect row" aria-label="In effect">
      <span class="muted">In effect</span>
      <ul class="grow">
        {upstream === null ? null : <li class="tag">in front of {upstream.baseUrl}</li>}
        {overrides.length === 0 && upstream === null ? <li class="muted">Nothing differs from the start.</li> : null}
        {overrides.map((override) => {
          const { what, name, text, until } = override
          const selection = name === null ? { what } : { what, name }
          return (
            <li class="chip" key={`${what} ${name}`}>
              <button type="button" class="plain" onClick={() => showControl(override)}>
                {inZone(text, now)}
                {until === null ? '' : ` · ${countdownText(Date.parse(until) - now)} left`}
              </button>
              <ActionButton
                class="plain"
                label={`Undo ${text}`}
                act={() => call('overrides.clear', selection, `Undone: ${text}.`)}
              >
                ×
              </ActionButton>
            </li>
          )
        })}
      </ul>
      <ExportButton />
      <ActionButton
        disabled={overrides.length === 0}
        title="Undoes all overrides, and keeps the data"
        act={() => call('overrides.clear', {}, 'Nothing differs from the start.')}
      >
        Reset all
      </ActionButton>
      <ActionButton act={() => call('reset', {}, 'The space has been reset.')}>Reset space</ActionButton>
    </section>
  )
}

import { SETTING_NAMES, SETTINGS, type SettingName } from '../../domain/settings.js'
import { ActionError, useAction } from '../ui.js'
import { call } from './actions.js'
import { ActionButton, SavedField, Section } from './fields.js'
import { scenarios, state } from './state.js'

export function SwitchesPanel() {
  return (
    <>
      {scenarios.value.length === 0 ? null : <ScenariosSection />}
      <SettingsSections />
    </>
  )
}

function ScenariosSection() {
  return (
    <Section id="scenarios" title="Scenarios">
      <ul class="rules">
        {scenarios.value.map(({ name, description }) => (
          <li key={name} class="row">
            <ActionButton
              label={`Apply ${name}`}
              act={() => call('scenario.apply', { scenario: { name } }, `The scenario ${name} is set.`)}
            >
              {name}
            </ActionButton>
            <span class="grow muted">{description}</span>
          </li>
        ))}
      </ul>
    </Section>
  )
}

type Panel = (typeof SETTINGS)[SettingName]['panel']

function SettingsSections() {
  if (state.value === undefined) return null
  const { plan, limits, rateLimit, banAfter, banDuration, latency, sunset } = state.value.settings
  const sections: readonly (readonly [Panel, title: string, aside: string])[] = [
    ['limits', 'Limits', rateLimit ? `sandbox: ${limits ?? plan ?? 'none'}` : 'off'],
    ['bans', 'Bans', banAfter === 'never' ? 'never' : `after ${banAfter}, ${banDuration}`],
    ['responses', 'Latency and sunset', `${latency ?? 'no latency'}, ${sunset}`],
  ]
  return (
    <>
      {sections.map(([panel, title, aside]) => (
        <Section key={panel} id={panel} title={title} aside={aside}>
          <div class="fields">
            {settingsIn(panel).map((name) => (
              <div key={name} id={`setting-${name}`}>
                <SettingField name={name} />
              </div>
            ))}
          </div>
        </Section>
      ))}
    </>
  )
}

function settingsIn(panel: Panel): readonly SettingName[] {
  const place = (name: SettingName) => (name === 'latency' ? 0 : SETTINGS[name].kind === 'switch' ? 2 : 1)
  const isShown = (name: SettingName) => SETTINGS[name].kind !== 'plan' || (state.value?.plans.length ?? 0) > 0
  return SETTING_NAMES.filter((name) => SETTINGS[name].panel === panel && isShown(name)).sort(
    (a, b) => place(a) - place(b),
  )
}

function SettingField({ name }: { readonly name: SettingName }) {
  const value = state.value?.settings[name]
  const row = SETTINGS[name]
  const save = (changed: unknown) => call('settings.change', { [name]: changed }, `Changed: ${name}.`)
  if (row.kind === 'switch') return <Switch label={row.label} value={value === true} save={save} />
  const text = String(value ?? '')
  if (row.kind === 'plan') {
    return <SavedField label={row.label} value={text} choices={state.value?.plans ?? []} save={save} />
  }
  if (row.kind === 'choice') {
    const choices: readonly (string | number)[] = row.choices
    const saveChoice = (given: string) => save(choices.find((choice) => String(choice) === given))
    return <SavedField label={row.label} value={text} choices={choices.map(String)} save={saveChoice} />
  }
  const read = (given: string) => {
    const text = given.trim()
    if (row.kind === 'count-or-never') return /^\d+$/.test(text) ? Number(text) : text
    if ('unset' in row && text === '') return null
    return row.kind === 'senders' ? Number(text) : text
  }
  const placeholder = 'hint' in row ? row.hint : ''
  return <SavedField label={row.label} value={text} placeholder={placeholder} save={(given) => save(read(given))} />
}

function Switch({
  label,
  value,
  save,
}: {
  readonly label: string
  readonly value: boolean
  save(value: boolean): Promise<unknown>
}) {
  const action = useAction<boolean>()
  return (
    <div class="field">
      <label class="switch row">
        <input
          type="checkbox"
          checked={action.pending.value?.value ?? value}
          onChange={({ currentTarget: { checked } }) => action.run(() => save(checked), checked)}
        />
        {label}
      </label>
      <ActionError action={action} />
    </div>
  )
}

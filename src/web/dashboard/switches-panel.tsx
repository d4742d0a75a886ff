import { SETTING_NAMES, SETTINGS, type SettingName } from '../../domain/settings.js'
import { applyScenario, call } from './actions.js'
import { ActionButton, SavedField, Section } from './fields.js'
import { operations, scenarios, state } from './state.js'

type Panel = (typeof SETTINGS)[SettingName]['panel']

export function SwitchesPanel() {
  if (state.value === undefined) return null
  const { plan, limits, rateLimit, banAfter, banDuration, latency, sunset } = state.value.settings
  const sections: readonly (readonly [Panel, title: string, aside: string])[] = [
    ['limits', 'Limits', rateLimit ? `${hasPlans() ? 'sandbox' : 'each key'}: ${limits ?? plan ?? 'none'}` : 'off'],
    ['bans', 'Bans', banAfter === 'never' ? 'never' : `for ${banDuration} after ${banAfter} early retries`],
    ['responses', 'Latency and sunset', `${latency ?? 'no latency'}, sunset ${sunset}`],
  ]
  return (
    <>
      <ScenariosSection />
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

function ScenariosSection() {
  return scenarios.value.length === 0 ? null : (
    <Section id="scenarios" title="Scenarios">
      <ul class="rules">
        {scenarios.value.map(({ name, description }) => (
          <li key={name} class="row">
            <ActionButton label={`Apply ${name}`} act={() => applyScenario(name)}>
              {name}
            </ActionButton>
            <span class="grow muted">{description}</span>
          </li>
        ))}
      </ul>
    </Section>
  )
}

function settingsIn(panel: Panel): readonly SettingName[] {
  const place = (name: SettingName) => (name === 'latency' ? 0 : SETTINGS[name].kind === 'switch' ? 2 : 1)
  const isShown = (name: SettingName) => SETTINGS[name].kind !== 'plan' || hasPlans()
  return SETTING_NAMES.filter((name) => SETTINGS[name].panel === panel && isShown(name)).sort(
    (a, b) => place(a) - place(b),
  )
}

/** Without plans, limits are of all keys. */
function hasPlans(): boolean {
  return (state.value?.plans.length ?? 0) > 0
}

function SettingField({ name }: { readonly name: SettingName }) {
  const row = SETTINGS[name]
  const choices: readonly (string | number)[] | undefined =
    row.kind === 'choice' ? row.choices : row.kind === 'plan' ? state.value?.plans : undefined
  const read = (given: string) => {
    const text = given.trim()
    if (row.kind === 'switch') return text === 'true'
    if (choices !== undefined) return choices.find((choice) => String(choice) === text)
    if ('unset' in row && text === '') return null
    const isNumber = (row.kind === 'count-or-never' || row.kind === 'senders') && /^\d+$/.test(text)
    return isNumber ? Number(text) : text
  }
  return (
    <SavedField
      label={name === 'limits' && !hasPlans() ? 'Limits of each key' : row.label}
      type={row.kind === 'switch' ? 'checkbox' : 'text'}
      value={String(state.value?.settings[name] ?? '')}
      choices={choices?.map(String)}
      placeholder={'hint' in row ? row.hint.replace(/\w+(?==)/, operations.value[0]?.id ?? '*') : ''}
      save={(given) => call('settings.change', { [name]: read(given) }, `Changed: ${name}.`)}
    />
  )
}

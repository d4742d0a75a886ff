import { SETTING_NAMES, SETTINGS, type SettingName } from '../../domain/settings.js'
import type { SettingsView } from '../../options/settings-view.js'
import { ChoiceField, SwitchField, TextField } from './controls.js'
import { Section } from './section.js'
import { useDashboard, useSession } from './session-context.js'

type Panel = (typeof SETTINGS)[SettingName]['panel']

/** The switches that are settings, by what they are about. */
export function SettingsSections() {
  const settings = useDashboard(({ state }) => state?.settings)
  if (settings === undefined) return null
  const { plan, limits, rateLimit, banAfter, banDuration, latency, sunset } = settings
  const sections = {
    limits: { title: 'Limits', aside: rateLimit ? `sandbox: ${limits ?? plan}` : 'off' },
    bans: { title: 'Bans', aside: banAfter === 'never' ? 'never' : `after ${banAfter}, ${banDuration}` },
    answers: { title: 'Latency and sunset', aside: `${latency ?? 'no latency'}, ${sunset}` },
  } satisfies Record<Panel, object>
  return (
    <>
      {(Object.keys(sections) as Panel[]).map((panel) => (
        <Section key={panel} id={panel} {...sections[panel]}>
          <div class="fields">
            {fieldsOf(panel).map((name) => (
              <SettingField key={name} name={name} value={settings[name]} />
            ))}
          </div>
        </Section>
      ))}
    </>
  )
}

/** Latency leads its panel, and a switch ends it. */
function fieldsOf(panel: Panel): readonly SettingName[] {
  const place = (name: SettingName) => (name === 'latency' ? 0 : SETTINGS[name].kind === 'switch' ? 2 : 1)
  return SETTING_NAMES.filter((name) => SETTINGS[name].panel === panel).sort((a, b) => place(a) - place(b))
}

function SettingField({ name, value }: { readonly name: SettingName; readonly value: SettingsView[SettingName] }) {
  const session = useSession()
  const save = (value: unknown) => session.call('settings.change', { [name]: value }, `Changed: ${name}.`)
  const row = SETTINGS[name]
  const { label } = row
  if (row.kind === 'switch') return <SwitchField label={label} value={value === true} save={save} />
  if (row.kind === 'choice') {
    const choices: readonly (string | number)[] = row.choices
    return <ChoiceField label={label} value={value as string | number} choices={choices} save={save} />
  }
  const hint = 'hint' in row ? { hint: row.hint } : {}
  const written = (text: string) => {
    if (row.kind === 'count-or-never') return /^\d+$/.test(text.trim()) ? Number(text) : text.trim()
    if ('unset' in row && text.trim() === '') return null
    return row.kind === 'senders' ? Number(text) : text
  }
  return <TextField label={label} value={String(value ?? '')} {...hint} save={(text) => save(written(text))} />
}

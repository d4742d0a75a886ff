import type { StormView } from '../../control/views.js'
import { FAULTS, type FaultRule, formatFaultRule } from '../../domain/faults.js'
import { SETTING_NAMES, SETTINGS, type SettingName } from '../../domain/settings.js'
import { countdownText } from '../format.js'
import { call, removeFault } from '../session.js'
import { faultDraft, operations, scenarios, spaceTime, state } from '../state.js'
import { ActionError, Field, Form, type ReadField, useAction } from '../ui.js'
import { ActionButton, SavedField, Section } from './fields.js'
import { stormAt } from './quota-now.js'

export function BreakPanel() {
  return (
    <>
      {scenarios.value.length === 0 ? null : <ScenariosSection />}
      <StormSection />
      <FaultsSection />
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

function StormSection() {
  const storm = state.value?.storm ?? null
  const start = (field: ReadField) => {
    const names = ['for', 'every', 'retryAfter'].filter((name) => field(name) !== undefined)
    const given = Object.fromEntries(names.map((name) => [name, field(name)]))
    const storm = { rate: Number(field('percent') ?? '100') / 100, ...given }
    return call('storm.start', { storm }, 'A storm has started.')
  }
  return (
    <Section id="storm" title="Storm" aside={storm === null ? 'off' : <StormState storm={storm} />}>
      <Form label="Storm" keeps send={start}>
        <Field
          label="Refused, %"
          name="percent"
          type="number"
          min="0"
          max="100"
          step="any"
          defaultValue="100"
          required
        />
        <Field label="For" name="for" placeholder="until stopped" defaultValue="30s" />
        <Field label="Every" name="every" placeholder="once" />
        <Field label="Retry-After" name="retryAfter" placeholder="1s" />
        <button type="submit" class="primary">
          {storm === null ? 'Start storm' : 'Restart storm'}
        </button>
        {storm === null ? null : (
          <ActionButton act={() => call('storm.stop', {}, 'The storm is stopped.')}>Stop storm</ActionButton>
        )}
      </Form>
    </Section>
  )
}

function StormState({ storm }: { readonly storm: StormView }) {
  const { kind, changesIn } = stormAt(storm, spaceTime.value ?? 0)
  if (kind === 'ended') return <>over</>
  const left = changesIn === undefined ? '' : `, ${countdownText(changesIn)} left`
  return kind === 'active' ? (
    <span class="tag outcome soft limited">
      refuses {Number((storm.rate * 100).toFixed(2))} %{left}
    </span>
  ) : (
    <span class="tag">pauses{left}</span>
  )
}

function FaultsSection() {
  const faults = state.value?.faults ?? []
  return (
    <Section id="faults" title="Faults" aside={faults.length === 0 ? 'none' : faults.length}>
      <ol class="rules">
        {faults.map((fault, index) => (
          <li key={index} class="row between">
            <span class="mono">{formatFaultRule(fault)}</span>
            <span class="muted">{fault.left === null ? '' : `${fault.left} left`}</span>
            <ActionButton label={`Remove the fault ${formatFaultRule(fault)}`} act={() => removeFault(index)}>
              Remove
            </ActionButton>
          </li>
        ))}
      </ol>
      <FaultForm />
      {faults.length < 2 ? null : (
        <ActionButton act={() => call('faults.clear', {}, 'All faults are removed.')}>Remove all</ActionButton>
      )}
    </Section>
  )
}

function FaultForm() {
  const draft = faultDraft.value
  return (
    <Form key={draft.number} label="Add a fault" keeps send={addFault}>
      <Field
        label="Operation"
        name="operation"
        choices={[...new Set([draft.operation, '*', ...operations.value.map(({ id }) => id)])].map((id) => [
          id,
          id === '*' ? 'every operation' : id,
        ])}
      />
      <Field label="Fault" name="fault" choices={['status', ...FAULTS]} />
      <Field label="Status" name="status" type="number" min="400" max="599" defaultValue="503" />
      <Field label="Probability, %" name="percent" type="number" min="0" max="100" step="any" defaultValue="100" />
      <Field label="Times" name="times" type="number" min="1" placeholder="always" />
      <Field label="Retry-After" name="retryAfter" placeholder="none" />
      <Field label="Phase" name="phase" choices={PHASES} />
      <button type="submit">Add fault</button>
    </Form>
  )
}

const PHASES = [
  ['before', 'before the operation'],
  ['after', 'after it: lose the response'],
] as const

function addFault(field: ReadField) {
  const fault = field('fault') ?? 'status'
  const percent = Number(field('percent') ?? '100')
  const [times, retryAfter] = [field('times'), field('retryAfter')]
  const rule = {
    operation: field('operation') ?? '*',
    fault,
    ...(fault === 'status' && { status: Number(field('status')) }),
    ...(percent !== 100 && { probability: percent / 100 }),
    ...(times !== undefined && { times: Number(times) }),
    ...(fault === 'status' && retryAfter !== undefined && { retryAfter }),
    ...(field('phase') === 'after' && { phase: 'after' }),
  } as FaultRule
  return call('faults.add', { rule }, 'The rule is added.')
}

type Panel = (typeof SETTINGS)[SettingName]['panel']

function SettingsSections() {
  if (state.value === undefined) return null
  const { plan, limits, rateLimit, banAfter, banDuration, latency, sunset } = state.value.settings
  const sections: readonly (readonly [Panel, title: string, aside: string])[] = [
    ['limits', 'Limits', rateLimit ? `sandbox: ${limits ?? plan}` : 'off'],
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
  return SETTING_NAMES.filter((name) => SETTINGS[name].panel === panel).sort((a, b) => place(a) - place(b))
}

function SettingField({ name }: { readonly name: SettingName }) {
  const value = state.value?.settings[name]
  const row = SETTINGS[name]
  const save = (changed: unknown) => call('settings.change', { [name]: changed }, `Changed: ${name}.`)
  if (row.kind === 'switch') return <Switch label={row.label} value={value === true} save={save} />
  const text = String(value ?? '')
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

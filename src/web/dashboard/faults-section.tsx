import { type FaultRule, formatFaultRule, WIRE_FAULTS } from '../../domain/faults.js'
import { ActionButton } from './controls.js'
import { withoutRule } from './fault-rules.js'
import { Form } from './form.js'
import { Section } from './section.js'
import { useDashboard, useSession } from './session-context.js'

/** The ordered rules by which operations fail; the first that hits wins. */
export function FaultsSection() {
  const session = useSession()
  const faults = useDashboard(({ state }) => state?.faults) ?? []
  const draft = useDashboard(({ faultDraft }) => faultDraft)
  return (
    <Section id="faults" title="Faults" aside={faults.length === 0 ? 'none' : faults.length}>
      {faults.length === 0 ? null : (
        <ol class="rules">
          {faults.map((fault, index) => {
            const text = formatFaultRule(fault)
            return (
              <li key={index} class="row between">
                <span class="mono">{text}</span>
                <span class="muted">{fault.left === null ? '' : `${fault.left} left`}</span>
                <ActionButton
                  label={`Remove the fault ${text}`}
                  act={() => session.call('faults.set', { rules: withoutRule(faults, index) }, 'The rule is removed.')}
                >
                  Remove
                </ActionButton>
              </li>
            )
          })}
        </ol>
      )}
      <AddFaultForm key={draft.times} operation={draft.operation} />
      {faults.length < 2 ? null : (
        <ActionButton act={() => session.call('faults.clear', {}, 'There are no faults.')}>Remove all</ActionButton>
      )}
    </Section>
  )
}

/** @param operation chosen to begin with */
function AddFaultForm({ operation: chosen }: { readonly operation: string }) {
  const session = useSession()
  const operations = useDashboard(({ operations }) => operations)
  return (
    <Form
      label="Add a fault"
      keeps
      send={(field) => {
        const fault = field('fault') ?? 'status'
        const percent = Number(field('percent') ?? '100')
        const times = field('times')
        const retryAfter = fault === 'status' ? field('retryAfter') : undefined
        const rule = {
          operation: field('operation') ?? '*',
          fault,
          ...(fault === 'status' ? { status: Number(field('status')) } : {}),
          ...(percent === 100 ? {} : { probability: percent / 100 }),
          ...(times === undefined ? {} : { times: Number(times) }),
          ...(retryAfter === undefined ? {} : { retryAfter }),
        } as FaultRule
        return session.call('faults.add', { rule }, 'The rule is added.')
      }}
    >
      <label>
        Operation
        <select name="operation" defaultValue={chosen}>
          {['*', ...operations.map(({ id }) => id)].map((operation) => (
            <option key={operation} value={operation} selected={operation === chosen}>
              {operation === '*' ? 'every one' : operation}
            </option>
          ))}
        </select>
      </label>
      <label>
        Fault
        <select name="fault">
          {['status', ...WIRE_FAULTS].map((fault) => (
            <option key={fault}>{fault}</option>
          ))}
        </select>
      </label>
      <label>
        Status
        <input name="status" type="number" min="400" max="599" defaultValue="503" />
      </label>
      <label>
        Likely, %
        <input name="percent" type="number" min="0" max="100" step="any" defaultValue="100" />
      </label>
      <label>
        Times
        <input name="times" type="number" min="1" placeholder="always" />
      </label>
      <label>
        Retry-After
        <input name="retryAfter" placeholder="none" />
      </label>
      <button type="submit">Add fault</button>
    </Form>
  )
}

import { signal } from '@preact/signals'
import { FAULTS, type FaultRule } from '../../domain/faults.js'
import { Field, Form, Menu, type ReadField } from '../ui.js'
import { addFault, call } from './actions.js'
import { ActionButton } from './fields.js'
import { showTab } from './session.js'
import { operations } from './state.js'

const STATUSES = ['503', '429', '500', '502', '504', '404', '401', '403', '408'] as const

/** The operation of the sentence. */
const operation = signal('*')

/** One sentence that breaks the next requests; further ways are in its menu, and behind Ctrl-K. */
export function Sentence() {
  return (
    <Form label="Break the next requests" keeps class="row sentence" send={send}>
      <span>The next</span>
      <Field aria-label="Times" name="times" type="number" min="1" defaultValue="1" placeholder="all" class="short" />
      <Field
        aria-label="Operation"
        name="operation"
        value={operation.value}
        choices={[['*', 'requests'], ...operations.value.map(({ id }) => id)]}
        choose={(id) => (operation.value = id)}
      />
      <span>get</span>
      <Field aria-label="Fault" name="fault" choices={[...STATUSES, ...FAULTS]} />
      <Field aria-label="Retry-After" name="retryAfter" placeholder="+ Retry-After" class="short" />
      <label class="row">
        <input type="checkbox" name="after" value="after" /> after the write
      </label>
      <button type="submit" class="primary">
        Arm
      </button>
      <Menu label="More">
        {quickCommands().map(([text, act]) => (
          <ActionButton key={text} act={act}>
            {text}
          </ActionButton>
        ))}
        <button type="button" onClick={() => showTab('switches')}>
          All switches…
        </button>
      </Menu>
    </Form>
  )
}

function send(field: ReadField): Promise<unknown> {
  const fault = field('fault') ?? '503'
  const [times, retryAfter] = [field('times'), field('retryAfter')]
  const status = Number(fault)
  return addFault({
    operation: field('operation') ?? '*',
    ...(Number.isNaN(status) ? { fault: fault as FaultRule['fault'] } : { fault: 'status', status }),
    ...(times !== undefined && { times: Number(times) }),
    ...(retryAfter !== undefined && { retryAfter: /^\d+$/.test(retryAfter) ? `${retryAfter}s` : retryAfter }),
    ...(field('after') !== undefined && { phase: 'after' }),
  })
}

export function quickCommands(): readonly (readonly [text: string, act: () => Promise<unknown>])[] {
  const slow = operation.value === '*' ? (operations.value[0]?.id ?? '*') : operation.value
  const storm = () => call('storm.start', { storm: '1,for=30s' }, 'A storm has started.')
  const slowDown = () => call('settings.change', { latency: `${slow}=3s` }, `${slow} is slow.`)
  return [
    ['Everything 429 for 30 s', storm],
    [`${slow} slow 3 s`, slowDown],
  ]
}

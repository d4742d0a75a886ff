import { signal, useSignal } from '@preact/signals'
import { FAULTS, type FaultRule, parseFaultRule } from '../../domain/faults.js'
import { Dialog, Field, Form, Menu, type ReadField } from '../ui.js'
import { clockTargets } from './clock-menu.js'
import { isPaletteOpen } from './dialogs.js'
import { ActionButton } from './fields.js'
import { addFault, call, moveClock, removeUsedFaults, showTab } from './session.js'
import { clock, operations, scenarios, spaceTime } from './state.js'

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
        <input type="checkbox" name="after" value="after" /> after it was stored
      </label>
      <button type="submit" class="primary">
        Arm
      </button>
      <Menu label="More" class="end">
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

type Command = readonly [text: string, act: () => Promise<unknown>]

function armCommand(text: string): readonly Command[] {
  const rule = parseFaultRule(text)
  return typeof rule === 'string' ? [] : [[`Arm ${text}`, () => addFault(rule)]]
}

function quickCommands(): readonly Command[] {
  const slow = operation.value === '*' ? (operations.value[0]?.id ?? '*') : operation.value
  const storm = () => call('storm.start', { storm: '1,for=30s' }, 'A storm has started.')
  const slowDown = () => call('settings.change', { latency: `${slow}=3s` }, `${slow} is slow.`)
  return [
    ['Everything 429 for 30 s', storm],
    [`${slow} slow 3 s`, slowDown],
  ]
}

function allCommands(): readonly Command[] {
  const isFrozen = clock.value?.frozen ?? false
  return [
    ...quickCommands(),
    ...clockTargets(spaceTime.value ?? 0).map(
      ([name, at]) => [`Clock to ${name}`, () => moveClock({ now: new Date(at).toISOString() })] as const,
    ),
    [isFrozen ? 'Resume the clock' : 'Freeze the clock', () => moveClock({ frozen: !isFrozen })],
    ['Clock to real time', () => moveClock('real')],
    ...scenarios.value.map(
      ({ name }) =>
        [
          `Scenario ${name}`,
          () => call('scenario.apply', { scenario: { name } }, `The scenario ${name} is set.`),
        ] as const,
    ),
    ['Reset the switches and the clock', () => call('overrides.clear', {}, 'All switches are as at the start.')],
    ['Reset everything', () => call('reset', {}, 'The space has been reset.')],
    ['Clear the rules that are used up', removeUsedFaults],
    ['Clear the log', () => call('requests.clear', {}, 'The log is empty.')],
  ]
}

const MAX_FOUND = 12

export function Palette() {
  const text = useSignal('')
  if (!isPaletteOpen.value) return null
  const words = text.value.toLowerCase().split(/\s+/)
  const found = [
    ...armCommand(text.value.trim()),
    ...allCommands().filter(([name]) => words.every((word) => name.toLowerCase().includes(word))),
  ]
  const close = () => {
    text.value = ''
    isPaletteOpen.value = false
  }
  return (
    <Dialog label="Run a command" isLarge onClose={close}>
      <Form
        class="stack palette"
        send={async () => {
          await found[0]?.[1]()
          close()
        }}
      >
        <Field
          aria-label="Command"
          placeholder={`A command, or a rule such as ${operations.value.at(-1)?.id ?? '*'}:503*2`}
          value={text.value}
          choose={(typed) => (text.value = typed)}
        />
      </Form>
      {found.slice(0, MAX_FOUND).map(([name, act]) => (
        <ActionButton
          key={name}
          class="plain"
          act={async () => {
            await act()
            close()
          }}
        >
          {name}
        </ActionButton>
      ))}
      {found.length === 0 ? <p class="muted">No such command.</p> : null}
    </Dialog>
  )
}

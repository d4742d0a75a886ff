import { useSignal } from '@preact/signals'
import { parseFaultRule } from '../../domain/faults.js'
import { clientName, clientOf } from '../../exchanges/client-name.js'
import { wordOf } from '../../exchanges/exchange-filter.js'
import { ActionError, Dialog, Field, useAction } from '../ui.js'
import {
  addFault,
  applyScenario,
  call,
  clearLog,
  moveClock,
  removeUsedFaults,
  resetAll,
  resetSwitches,
  undo,
} from './actions.js'
import { clockTargets, goToInstant } from './clock-menu.js'
import { isPaletteOpen } from './dialogs.js'
import { quickCommands } from './sentence.js'
import { exchangeById, select, setFilter, showTab } from './session.js'
import { clock, exchanges, operations, scenarios, space, spaceTime, undoable } from './state.js'

type Command = readonly [text: string, act: () => unknown]

const MAX_FOUND = 12

function allCommands(): readonly Command[] {
  const isFrozen = clock.value?.frozen ?? false
  const last = undoable.value
  const clients = new Map(exchanges.value.map((exchange) => [clientOf(exchange), clientName(exchange)]))
  return [
    ...(last == null ? [] : [[`Undo: ${last.text}${last.also}`, () => undo(space.value, last.id)] as const]),
    ...quickCommands(),
    ...clockTargets(spaceTime.value ?? 0).map(
      ([name, at]) => [`Clock to ${name}`, () => goToInstant(name, at)] as const,
    ),
    [isFrozen ? 'Resume the clock' : 'Freeze the clock', () => moveClock({ frozen: !isFrozen })],
    ['Clock to real time', () => moveClock('real')],
    ...scenarios.value.map(({ name }) => [`Scenario ${name}`, () => applyScenario(name)] as const),
    ['Reset the switches and the clock', resetSwitches],
    ['Reset everything', resetAll],
    ['Clear the rules that are used up', removeUsedFaults],
    ['Clear the log', clearLog],
    ...(['switches', 'keys', 'data', 'conduct'] as const).map((tab) => [`Go to ${tab}`, () => showTab(tab)] as const),
    ...[...clients].map(([client, name]) => [`Client ${name}`, () => setFilter(wordOf('client', client))] as const),
  ]
}

/** A storm, a rule or an exchange that a text names. */
function namedBy(text: string): readonly Command[] {
  const rule = parseFaultRule(text)
  const [, share, percent, rest = ''] = /^storm\s+(\d[\d.]*)\s?(%?)(.*)$/.exec(text) ?? []
  const rate = Number(share) / (percent === '%' ? 100 : 1)
  const storm = share === undefined ? undefined : `${rate}${rest.replaceAll(/[\s,]+/g, ',')}`
  const exchange = exchangeById(Number(text.replace('#', '') || Number.NaN))
  return [
    ...(storm === undefined
      ? []
      : [[`Start storm ${storm}`, () => call('storm.start', { storm }, `A storm has started: ${storm}.`)] as const]),
    ...(typeof rule === 'string' ? [] : [[`Arm ${text}`, () => addFault(rule)] as const]),
    ...(exchange === undefined ? [] : [[`Exchange #${exchange.id}`, () => select(exchange)] as const]),
  ]
}

/** Enter runs the marked command; with an empty field none is marked. */
export function Palette() {
  const text = useSignal('')
  const marked = useSignal(-1)
  const action = useAction<true>()
  if (!isPaletteOpen.value) return null
  const words = text.value.toLowerCase().split(/\s+/)
  const found = [
    ...namedBy(text.value.trim()),
    ...allCommands().filter(([name]) => words.every((word) => name.toLowerCase().includes(word))),
  ].slice(0, MAX_FOUND)
  const close = () => {
    text.value = ''
    marked.value = -1
    isPaletteOpen.value = false
  }
  const run = async ([, act]: Command) => {
    if (await action.run(async () => act(), true)) close()
  }
  const optionId = (index: number) => `command-${index}`
  return (
    <Dialog label="Run a command" isLarge onClose={close}>
      <Field
        role="combobox"
        aria-label="Command"
        aria-expanded="true"
        aria-controls="commands"
        aria-activedescendant={marked.value === -1 ? undefined : optionId(marked.value)}
        placeholder={`A command, or a rule such as ${operations.value.at(-1)?.id ?? '*'}:503*2, or storm 50%,for=1m`}
        value={text.value}
        choose={(typed) => {
          text.value = typed
          marked.value = typed.trim() === '' ? -1 : 0
        }}
        onKeyDown={(event) => {
          const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
          const chosen = found[marked.value]
          if (step !== undefined) marked.value = Math.max(0, Math.min(found.length - 1, marked.value + step))
          else if (event.key !== 'Enter') return
          else if (chosen !== undefined) void run(chosen)
          event.preventDefault()
        }}
      />
      {found.length === 0 ? <p class="muted">No such command.</p> : null}
      <div class="commands" role="listbox" id="commands" aria-label="Commands">
        {found.map((command, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the focus, and its arrow keys choose
          <div
            key={command[0]}
            role="option"
            id={optionId(index)}
            tabIndex={-1}
            aria-selected={index === marked.value}
            onClick={() => run(command)}
          >
            {command[0]}
          </div>
        ))}
      </div>
      <ActionError error={action.error} />
    </Dialog>
  )
}

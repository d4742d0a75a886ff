import { counted } from '../../domain/numbers.js'
import { CopyButton } from '../content.js'
import { asMap, asText } from '../contract-parts.js'
import { SANDBOX_ADDRESS } from '../control-api.js'
import { messageOf, timeText } from '../format.js'
import { Field } from '../ui.js'
import { undo } from './actions.js'
import { ClockMenu } from './clock-menu.js'
import { isHelpOpen, isPaletteOpen } from './dialogs.js'
import { showSpace, showTab } from './session.js'
import {
  announcement,
  clock,
  connection,
  contract,
  lastContact,
  notice,
  space,
  spaces,
  state,
  toast,
  undoable,
} from './state.js'

export function Header() {
  const basePath = state.value?.basePath
  const { title } = asMap(contract.value.info)
  const base = basePath === undefined ? '…' : SANDBOX_ADDRESS + basePath
  return (
    <header class="top row">
      <h1 class="row">
        <img src="assets/icon.svg" alt="" width="22" height="22" /> petstore-sandbox
      </h1>
      <a href={space.value === '' ? 'docs' : `docs?${new URLSearchParams({ space: space.value })}`}>
        API docs{asText(title) && `: ${title}`}
      </a>
      <SpaceChooser />
      <span class={`connection ${connection} outcome ${CONNECTION_COLOURS[connection.value]}`} role="status">
        {connection.value === 'lost' ? 'disconnected' : connection}
      </span>
      <CopyButton text={base} label={`Copy the base URL ${base}`} class="plain mono address">
        {base.replace(/^https?:\/\//, '')}
      </CopyButton>
      {clock.value === undefined ? null : <ClockMenu />}
      <button type="button" class="wide-only" aria-haspopup="dialog" onClick={() => (isPaletteOpen.value = true)}>
        Run a command <kbd class="muted">{/Mac/.test(navigator.userAgent) ? '⌘K' : 'Ctrl K'}</kbd>
      </button>
      <button type="button" aria-label="Help" aria-haspopup="dialog" onClick={() => (isHelpOpen.value = true)}>
        ?
      </button>
    </header>
  )
}

const CONNECTION_COLOURS = { connecting: '', live: 'answered', lost: 'failed', locked: 'failed' } as const

function SpaceChooser() {
  const names = new Set([...spaces.value.map(({ name }) => name), space.value])
  const busy = spaces.value.filter(({ name, requests }) => requests > 0 && name !== space.value).length
  return (
    <>
      <Field
        aria-label="Space"
        value={space.value}
        choices={[['', 'default'], ...[...names].filter(Boolean)]}
        choose={showSpace}
      />
      {busy === 0 ? null : (
        <button type="button" class="plain muted" onClick={() => showTab('data', 'spaces')}>
          {counted(busy, 'other')} busy
        </button>
      )}
    </>
  )
}

export function LostBanner() {
  if (connection.value !== 'lost') return null
  const { command = null } = state.value?.process ?? {}
  return (
    <p class="bar soft failed" role="alert">
      <b>The sandbox is not responding.</b> Last contact at {timeText(performance.timeOrigin + lastContact.value)}, real
      time; this is its last known state.{' '}
      {command === null ? 'The program that started it has ended it.' : 'Start it again with '}
      <code>{command}</code>
    </p>
  )
}

/** Had the focus before a message. */
let origin: HTMLElement | undefined

export function Messages() {
  const { id, also = '' } = undoable.value ?? {}
  const { text = '', space = '', undoId } = toast.value ?? {}
  const undoIt = () => undo(space, undoId).catch((error) => (notice.value = messageOf(error)))
  return (
    <>
      <div
        class="messages"
        role="status"
        onFocusIn={({ currentTarget, relatedTarget }) => {
          if (relatedTarget instanceof HTMLElement && !currentTarget.contains(relatedTarget)) origin = relatedTarget
        }}
      >
        {notice.value === '' ? null : noticeWith(notice.value, 'Dismiss', () => (notice.value = ''))}
        {text === '' ? null : noticeWith(text, `Undo${undoId === id ? also : ''}`, undoIt)}
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
      <button
        type="button"
        onClick={() => {
          void act()
          const next = origin?.isConnected ? origin : document.querySelector<HTMLElement>('#filter')
          next?.focus()
        }}
      >
        {name}
      </button>
    </p>
  )
}

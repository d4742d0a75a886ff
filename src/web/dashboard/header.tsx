import { SANDBOX_ADDRESS } from '../sandbox-address.js'
import { ClockControls } from './clock-controls.js'
import { ActionButton } from './controls.js'
import { useDashboard, useSession } from './session-context.js'
import { SpaceChooser } from './space-chooser.js'
import { SwitchesButton } from './switches-button.js'

const CONNECTION_TEXTS = {
  connecting: 'connecting',
  live: 'live',
  lost: 'disconnected',
  locked: 'locked',
} as const

/** Which sandbox this is, which space, and its time. */
export function Header() {
  const session = useSession()
  const connection = useDashboard(({ connection }) => connection)
  const space = useDashboard(({ space }) => space)
  const basePath = useDashboard(({ state }) => state?.basePath)
  const plan = useDashboard(({ state }) => state?.settings.plan)
  return (
    <header class="top">
      <div class="brand">
        <h1>petstore-sandbox</h1>
        <p>
          <span class={`connection ${connection}`}>{CONNECTION_TEXTS[connection]}</span>
          <a href={space === '' ? 'docs' : `docs?space=${encodeURIComponent(space)}`}>API docs</a>
        </p>
      </div>
      <dl class="facts">
        <div>
          <dt>{plan === undefined ? 'Address' : `Address, plan ${plan}`}</dt>
          <dd class="mono">{basePath === undefined ? '…' : SANDBOX_ADDRESS + basePath}</dd>
        </div>
      </dl>
      <div class="row space">
        <SpaceChooser />
        <ActionButton act={() => session.call('reset', {}, 'The space has been reset.')}>Reset</ActionButton>
        <SwitchesButton />
      </div>
      <ClockControls />
    </header>
  )
}

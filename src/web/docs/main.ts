import type { SpaceView, StateView } from '../../control/views.js'
import { isSpaceName } from '../../domain/space-name.js'
import { controlHeaders, controlToken, keepControlToken } from '../control-token.js'
import { nameControls } from './accessible-names.js'
import { childOf, elementOf } from './element-of.js'
import type { JsonMap } from './json-map.js'
import { offerKeys, showKey } from './offer-keys.js'
import { sandboxPlugin } from './plugin.js'
import { servedContract } from './served-contract.js'
import './style.css'

/** The space that the page is about is in its address, as in the control plane's: `docs?space=name`. */
const space = new URLSearchParams(location.search).get('space') ?? ''

/** The control plane requires its token, or for another one than was sent. */
class TokenNeeded extends Error {}

interface Served {
  readonly contract: JsonMap
  readonly state: StateView
}

followColourScheme()
try {
  show(await read())
} catch (error) {
  const failure = elementOf('failure')
  failure.hidden = false
  failure.textContent = error instanceof Error ? error.message : String(error)
}

/** Reads the contract and the state, and asks for the control token as long as that is what it takes. */
async function read(): Promise<Served> {
  try {
    const [contract, state] = await Promise.all([readControl('openapi.json'), readState()])
    return { contract: contract as JsonMap, state }
  } catch (error) {
    if (!(error instanceof TokenNeeded)) throw error
    await askForToken()
    return read()
  }
}

/** A space that is not open yet is opened by the first request from here, and begins with the keys of all. */
async function readState(): Promise<StateView> {
  const open = space === '' ? [] : ((await readControl('spaces')) as readonly SpaceView[])
  // What is no name at all is left to the sandbox to refuse.
  if (space === '' || (isSpaceName(space) && !open.some(({ name }) => name === space)))
    return { ...((await readControl('state')) as StateView), space }
  return (await readControl(`state?space=${encodeURIComponent(space)}`)) as StateView
}

function show({ contract, state }: Served): void {
  nameControls(elementOf('docs'))
  const { document: shown, scheme } = servedContract(contract, `${location.origin}${state.basePath}`)
  const swagger = SwaggerUIBundle({
    spec: shown,
    domNode: elementOf('docs'),
    plugins: [sandboxPlugin(shown, showKey)],
    deepLinking: true,
    tryItOutEnabled: true,
    displayRequestDuration: true,
    // Its badge would send the contract's address to somebody else's server.
    validatorUrl: null,
    onComplete: () => offerKeys(state, (key) => swagger.preauthorizeApiKey(scheme, key)),
  })
}

/**
 * Reads JSON from the control plane.
 *
 * @param path relative to the page: `state`
 * @throws TokenNeeded; Error with a message to show otherwise
 */
async function readControl(path: string): Promise<unknown> {
  let response: Response
  try {
    response = await fetch(path, { headers: controlHeaders() })
  } catch (error) {
    throw new Error('The sandbox does not answer. Start it again, then reload this page.', { cause: error })
  }
  if (response.status === 401) throw new TokenNeeded('The control plane requires its token.')
  const body = await response.json()
  if (!response.ok) throw new Error(`The sandbox refuses: ${body.message}`)
  return body
}

/** Asks for the control token; resolves when there is one to try. */
function askForToken(): Promise<void> {
  const form = elementOf('token')
  const input = childOf(form, 'input')
  childOf(form, 'p').textContent =
    controlToken() === null ? '' : 'The sandbox rejected this token. Enter the one given to --control-token.'
  form.hidden = false
  input.select()
  input.focus()
  return new Promise((resolve) => {
    const take = (event: Event) => {
      event.preventDefault()
      keepControlToken(input.value)
      form.hidden = true
      resolve()
    }
    form.addEventListener('submit', take, { once: true })
  })
}

/** Swagger UI uses a class for its dark colours instead of the system's preference. */
function followColourScheme(): void {
  const dark = matchMedia('(prefers-color-scheme: dark)')
  const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches)
  dark.addEventListener('change', follow)
  follow()
}

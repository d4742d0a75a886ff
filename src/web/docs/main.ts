import type { SpaceView, StateView } from '../../control/views.js'
import { isSpaceName } from '../../domain/space-name.js'
import { nameControls } from './accessible-names.js'
import { askForToken } from './ask-for-token.js'
import { followColourScheme } from './colour-scheme.js'
import { elementOf } from './element-of.js'
import type { JsonMap } from './json-map.js'
import { offerKeys, showKey } from './offer-keys.js'
import { sandboxPlugin } from './plugin.js'
import { readControl, TokenNeeded } from './read-control.js'
import { servedContract } from './served-contract.js'
import './style.css'

/** The space that the page is about is in its address, as in the control plane's: `docs?space=name`. */
const space = new URLSearchParams(location.search).get('space') ?? ''

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

import type { createApiReference } from '@scalar/api-reference'
import type { StateView } from '../../control/views.js'
import { isSpaceName, OWN_CLIENT } from '../../domain/keys.js'
import { OWN_CLIENT_HEADER } from '../../domain/messages.js'
import { spacePath } from '../../domain/space-address.js'
import type { JsonMap } from '../contract-parts.js'
import {
  callVerb,
  enterControlToken,
  hasControlToken,
  readText,
  requestControl,
  SANDBOX_ADDRESS,
  TokenNeeded,
} from '../control-api.js'
import { messageOf } from '../format.js'
import { hiddenPanels, KEY_SCHEME, ownSchemes, shownContract } from './shown-contract.js'
import './style.css'

/** Defined by the script that the page loads after this one. */
declare const Scalar: { readonly createApiReference: typeof createApiReference }

/** From the address: `docs?space=name`. */
const space = new URLSearchParams(location.search).get('space') ?? ''
const failure = find('#failure', HTMLElement)
const unlock = find('#unlock', HTMLFormElement)

if (space !== '') find('#dashboard', HTMLAnchorElement).href = `./#${new URLSearchParams({ space })}`
unlock.addEventListener('submit', (event) => {
  event.preventDefault()
  enterControlToken(String(new FormData(unlock).get('token')))
  void load()
})
// Scalar contains zod, which would try eval. The policy forbids that, and Firefox logs each attempt.
Object.assign(globalThis, { __zod_globalConfig: { jitless: true } })
// Scalar sends the requests of its panels with it.
const send = globalThis.fetch
globalThis.fetch = (input, init) => {
  const request = new Request(input, init)
  request.headers.set(OWN_CLIENT_HEADER, OWN_CLIENT)
  return send(request)
}
// By then, the script of Scalar has run.
addEventListener('DOMContentLoaded', () => void load())

async function load(): Promise<void> {
  failure.textContent = ''
  try {
    const [contract, state] = await Promise.all([readContract(), readState()])
    showActive(state)
    showReference(contract, state)
    // Scalar takes seconds for a large contract, or on a busy machine.
    const reference = find('#reference', HTMLElement)
    const observer = new MutationObserver(() => {
      if (reference.querySelector('h1, h2') === null) return
      find('#start', HTMLElement).hidden = true
      observer.disconnect()
    })
    observer.observe(reference, { childList: true, subtree: true })
  } catch (error) {
    const isFirstPrompt = error instanceof TokenNeeded && !hasControlToken()
    unlock.hidden = !(error instanceof TokenNeeded)
    failure.textContent = isFirstPrompt ? '' : messageOf(error)
  }
}

/** The switches that make responses differ from the documented ones. */
function showActive({ active }: StateView): void {
  const chips = active
    .filter(({ isOff }) => !isOff)
    .map(({ text }) => Object.assign(document.createElement('li'), { textContent: text }))
  find('#active', HTMLElement).replaceChildren(...chips)
}

/** Nothing of it may leave this origin. */
function showReference(document: JsonMap, state: StateView): void {
  const key = state.keys.find(({ secret }) => !secret)?.key ?? ''
  const schemes = Object.keys(ownSchemes(document) ?? { [KEY_SCHEME]: {} })
  Scalar.createApiReference('#reference', {
    content: shownContract(document, state, SANDBOX_ADDRESS + spacePath(space) + state.basePath, space),
    authentication: {
      ...(schemes.length === 1 && { preferredSecurityScheme: KEY_SCHEME }),
      securitySchemes: Object.fromEntries(
        schemes.map((name) => [name, { token: key, value: key, username: '', password: key }]),
      ),
    },
    agent: { disabled: true },
    mcp: { disabled: true },
    telemetry: false,
    withDefaultFonts: false,
    showDeveloperTools: 'never',
    hideClientButton: true,
    // The page follows the system.
    hideDarkModeToggle: true,
    // The header links to the contract as it is served.
    documentDownloadType: 'none',
    defaultOpenAllTags: true,
    featuredClients: ['shell/curl', 'js/fetch', 'node/undici', 'python/requests'],
    generateOperationSlug: ({ operationId, method, path }) => operationId ?? method.toUpperCase() + path,
    setPageTitle: ({ title }) => `${title} · petstore-sandbox`,
    customCss: hiddenPanels(document)
      .map((id) => `[id$=${CSS.escape(`/${id}`)}] .show-api-client-button { display: none }`)
      .join('\n'),
  })
}

async function readContract(): Promise<JsonMap> {
  return JSON.parse(await readText(await requestControl('/openapi.json')))
}

/** A space that is not open has the keys of the default space, but none of its switches. */
async function readState(): Promise<StateView> {
  const spaces = space === '' ? [] : await callVerb('spaces.list', '')
  const isUnopened = isSpaceName(space) && !spaces.some(({ name }) => name === space)
  const state = await callVerb('state', isUnopened ? '' : space, { explain: true })
  return isUnopened ? { ...state, active: [] } : state
}

function find<Element extends HTMLElement>(selector: string, type: new () => Element): Element {
  const found = document.querySelector(selector)
  if (!(found instanceof type)) throw new Error(`The page has no ${selector}.`)
  return found
}

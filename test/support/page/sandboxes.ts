import { readOwnContract } from '../../../src/browser/own-contract.js'
import { resolveBrowserOptions } from '../../../src/browser/resolve-options.js'
import { packagedContract } from '../../../src/contract/packaged-contract.js'
import { digestSandbox } from '../../../src/core/checkpoint.js'
import { createFetch } from '../../../src/http/fetch-adapter.js'
import type { SandboxOptions } from '../../../src/options/options.js'
import { openSandboxCore, type SandboxCore } from '../../../src/start/compose.js'
import { messageOf } from '../../../src/system/message-of.js'
import { digestOf } from '../../../src/system/runtime.js'
import { openMachine, stateText } from '../../machine/machine.js'
import { runCommands } from '../../machine/run-commands.js'

export interface Asked {
  readonly call: number
  readonly isControl: boolean
  readonly method: string
  readonly url: string
  readonly headers: readonly (readonly [string, string])[]
  readonly body: string | undefined
}

/** A response, or the error. */
export type Told =
  | {
      readonly status: number
      readonly headers: readonly (readonly [string, string])[]
      readonly text: string
      /** The error that cut the body. */
      readonly broken: string | undefined
    }
  | { readonly failed: string }

interface OpenedInPage {
  readonly id: number
  readonly warnings: readonly string[]
}

interface Opened {
  readonly core: SandboxCore
  readonly service: (request: Request) => Promise<Response>
  readonly warnings: string[]
}

const opened: Opened[] = []
const answers = new Map<number, Promise<Told>>()
const underWay = new Map<number, AbortController>()

const page = {
  /** @returns its number and the warnings of its start, or the error */
  async open(options: SandboxOptions): Promise<OpenedInPage | { readonly code: unknown; readonly message: string }> {
    const warnings: string[] = []
    try {
      const { spec } = options
      const contract = spec === undefined ? undefined : await readOwnContract(spec)
      const events = { onWarning: (text: string) => warnings.push(text) }
      const core = await openSandboxCore(resolveBrowserOptions(options), events, contract)
      await core.begin('')
      const service = createFetch(core, core.controlTarget.stopping)
      return { id: opened.push({ core, service, warnings }) - 1, warnings: warnings.splice(0) }
    } catch (error) {
      return { code: Object(error).code, message: messageOf(error) }
    }
  },

  /** Sends requests to a sandbox in parallel. */
  ask(id: number, all: readonly Asked[]): void {
    for (const asked of all) answers.set(asked.call, answer(one(id), asked))
  },

  /** @returns the response, and the warnings since the last one */
  async answer(id: number, call: number): Promise<readonly [Told | undefined, readonly string[]]> {
    const told = await answers.get(call)
    answers.delete(call)
    return [told, one(id).warnings.splice(0)]
  },

  leave(call: number): void {
    underWay.get(call)?.abort()
  },

  close: (id: number): Promise<void> => one(id).core.close(),

  /** Digests of a machine's results for the commands of a seed, and of its final state. */
  digests(seed: string, count: number, sandbox: SandboxOptions): readonly string[] {
    const warnings: string[] = []
    const warn = (text: string) => warnings.push(text)
    const machine = openMachine({ contract: packagedContract(), sandbox, warn })
    const { outcomes, wall } = runCommands(machine, seed, count)
    const said = [...outcomes, warnings.join('\n'), stateText(machine, wall), digestSandbox(machine)]
    return said.map((text) => digestOf(text))
  },
}

export type SandboxPage = typeof page

declare global {
  var sandboxes: SandboxPage
}
globalThis.sandboxes = page

function one(id: number): Opened {
  const found = opened[id]
  if (found === undefined) throw new RangeError(`The page has no sandbox ${id}.`)
  return found
}

async function answer({ core, service }: Opened, asked: Asked): Promise<Told> {
  const { call, isControl, method, url, headers, body } = asked
  const leaving = new AbortController()
  underWay.set(call, leaving)
  const init = { method, headers: headers.map(([name, value]): [string, string] => [name, value]) }
  const request = new Request(url, { ...init, signal: leaving.signal, ...(body === undefined ? {} : { body }) })
  try {
    return await told(isControl ? await core.control(request, 'owner') : await service(request))
  } catch (error) {
    return { failed: String(error) }
  } finally {
    underWay.delete(call)
  }
}

async function told(response: Response): Promise<Told> {
  const { status, headers, body } = response
  let text = ''
  let broken: string | undefined
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  const reader = body?.getReader()
  try {
    for (let piece = await reader?.read(); piece?.done === false; piece = await reader?.read())
      text += decoder.decode(piece.value, { stream: true })
  } catch (error) {
    broken = String(error)
  }
  return { status, headers: [...headers], text, broken }
}

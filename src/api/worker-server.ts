import { createHash } from 'node:crypto'
import { basename } from 'node:path'
import { ControlError } from '../control/control-error.js'
import { serviceAt } from '../domain/base-address.js'
import { addressInSpace } from '../domain/space-address.js'
import { findOption } from '../options/names.js'
import type { SandboxOptions, ScenarioContent } from '../options/options.js'
import { optionRow } from '../options/table.js'
import type { Environment } from '../system/this-process.js'
import type { SandboxControls, Space, SpaceControls } from './controls.js'
import { connectSandbox } from './over-network.js'
import { startSandbox } from './start.js'

export interface WorkerServer extends SandboxControls {
  readonly baseUrl: string
  readonly controlUrl: string
  /** With the address of this server. A reset opens it, so that it exists for a test that only reads it. */
  freshSpace(name: string): Promise<Space>
  close(): Promise<void>
}

export class WorkerServers {
  readonly #env: Environment
  readonly #servers = new Map<string, Promise<WorkerServer>>()

  /** @param env PETSTORE_SANDBOX_URL names a running sandbox */
  constructor(env: Environment) {
    this.#env = env
  }

  open(options: SandboxOptions): Promise<WorkerServer> {
    const key = JSON.stringify(options)
    const server = this.#servers.get(key) ?? openWorkerServer(options, this.#env)
    this.#servers.set(key, server)
    return server
  }

  async close(): Promise<void> {
    const servers = await Promise.allSettled(this.#servers.values())
    await Promise.all(servers.map((server) => (server.status === 'fulfilled' ? server.value.close() : undefined)))
  }
}

export function openWorkerServer(options: SandboxOptions, env: Environment): Promise<WorkerServer> {
  const { PETSTORE_SANDBOX_URL: controlUrl } = env
  return controlUrl ? joinServer(controlUrl, options, env) : startServer(options)
}

async function startServer(options: SandboxOptions): Promise<WorkerServer> {
  const sandbox = await startSandbox(options)
  return {
    ...sandbox,
    async freshSpace(name) {
      const space = sandbox.space(name)
      await space.reset()
      return space
    },
  }
}

async function joinServer(controlUrl: string, options: SandboxOptions, env: Environment): Promise<WorkerServer> {
  const { PETSTORE_SANDBOX_CONTROL_TOKEN: token, PETSTORE_BASE_URL: baseUrl } = env
  const controls = connectSandbox(controlUrl, token ? { token } : {})
  const { basePath } = await controls.state()
  const { switches, scenario, left } = spaceOptions(options)
  if (left.length > 0) {
    process.emitWarning(
      `createTest: ${left.join(', ')} cannot be applied to the sandbox at ${controlUrl}, which is already running. Start it with them instead.`,
    )
  }
  const service = serviceAt(controlUrl, baseUrl, basePath)
  return {
    ...controls,
    baseUrl: service,
    controlUrl,
    async freshSpace(name) {
      const space = controls.space(name)
      // Left over from a killed run.
      await removeSpace(space)
      // As in a server with these options, a reset keeps them.
      const reset = async () => {
        const done = await space.reset()
        if (scenario !== undefined) await space.scenario(scenario)
        if (Object.keys(switches).length > 0) await space.scenario(switches)
        return done
      }
      await reset()
      return { ...space, reset, baseUrl: addressInSpace(service, name) }
    },
    close: async () => {},
  }
}

export async function removeSpace(space: SpaceControls): Promise<void> {
  try {
    await space.remove()
  } catch (error) {
    if (!(error instanceof ControlError && error.code === 'not_found')) throw error
  }
}

function spaceOptions({ scenario, ...options }: SandboxOptions): {
  readonly switches: ScenarioContent
  readonly scenario: SandboxOptions['scenario']
  readonly left: readonly string[]
} {
  const given = Object.entries(options).filter(([, value]) => value !== undefined)
  const isSwitch = ([name]: readonly [string, unknown]) => {
    const option = findOption(name)
    return option !== undefined && optionRow(option.name).scenario === true
  }
  return {
    switches: Object.fromEntries(given.filter(isSwitch)),
    scenario,
    left: given.filter((option) => !isSwitch(option)).map(([name]) => name),
  }
}

/** @source docs/behaviour.md, "Spaces" */
const MAX_NAME_LENGTH = 64
const DIGEST_LENGTH = 10

/**
 * Readable by the title, unique by the id, and the same in every run: the randomness of a space derives from its name.
 *
 * @param root its name distinguishes packages that share a sandbox
 */
export function testSpaceName({ name, id }: { readonly name: string; readonly id: string }, root: string): string {
  const digest = createHash('sha256')
    .update(`${basename(root)}\n${id}`)
    .digest('hex')
    .slice(0, DIGEST_LENGTH)
  const words = name
    .replace(/[^A-Za-z0-9]+/g, '-')
    .slice(0, MAX_NAME_LENGTH - DIGEST_LENGTH - 1)
    .replace(/^-+|-+$/g, '')
  return words === '' ? digest : `${words}.${digest}`
}

import { connectSandbox } from '../api/connect.js'
import { ControlError, type SandboxControls, type Space } from '../api/controls.js'
import { startSandbox } from '../api/start.js'
import { optionNamed } from '../options/names.js'
import type { SandboxOptions, ScenarioContent } from '../options/options.js'
import { optionRow } from '../options/table.js'
import type { Environment } from '../system/environment.js'

/** The server that a worker's tests use: its own, or one that runs elsewhere. */
export interface WorkerServer extends SandboxControls {
  readonly baseUrl: string
  readonly controlUrl: string
  /** A fresh space, with those options that a space can have. */
  freshSpace(name: string): Promise<Space>
  close(): Promise<void>
}

/** @param env where PETSTORE_SANDBOX_URL names a running sandbox, if one is to be used */
export function openWorkerServer(options: SandboxOptions, env: Environment): Promise<WorkerServer> {
  const { PETSTORE_SANDBOX_URL: controlUrl } = env
  return controlUrl ? joinServer(controlUrl, options, env) : startServer(options)
}

async function startServer(options: SandboxOptions): Promise<WorkerServer> {
  const sandbox = await startSandbox(options)
  return { ...sandbox, freshSpace: async (name) => openAfresh(sandbox.space(name)) }
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
  return {
    ...controls,
    baseUrl: baseUrl || new URL(controlUrl).origin + basePath,
    controlUrl,
    async freshSpace(name) {
      const space = controls.space(name)
      // A killed run has removed nothing.
      await removeSpace(space)
      await openAfresh(space)
      if (scenario !== undefined) await space.scenario(scenario)
      if (Object.keys(switches).length > 0) await space.scenario(switches)
      return space
    },
    close: async () => {},
  }
}

/** A reset opens a space, so that a test which only reads it finds it there. */
async function openAfresh(space: Space): Promise<Space> {
  await space.reset()
  return space
}

/** Removes a space, if a request or a control call has ever opened it. */
export async function removeSpace(space: Space): Promise<void> {
  try {
    await space.remove()
  } catch (error) {
    if (!(error instanceof ControlError && error.code === 'not_found')) throw error
  }
}

/** Which options a space can still be given, and which only a server at its start. */
function spaceOptions({ scenario, ...options }: SandboxOptions): {
  readonly switches: ScenarioContent
  readonly scenario: SandboxOptions['scenario']
  readonly left: readonly string[]
} {
  const given = Object.entries(options).filter(([, value]) => value !== undefined)
  const isSwitch = ([name]: readonly [string, unknown]) => {
    const option = optionNamed(name)
    return option !== undefined && optionRow(option.name).scenario === true
  }
  return {
    switches: Object.fromEntries(given.filter(isSwitch)),
    scenario,
    left: given.filter((option) => !isSwitch(option)).map(([name]) => name),
  }
}

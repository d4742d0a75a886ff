import { setTimeout as pause } from 'node:timers/promises'
import { type Command, Option } from 'commander'
import { isOwnProcess } from '../../client/location.js'
import { askHealth, HEALTH_PATIENCE_MS } from '../../client/sandbox-health.js'
import { Failure } from '../../domain/failures.js'
import { type DurationMs, formatDuration, SECOND_MS } from '../../domain/time.js'
import { EXIT } from '../exit-codes.js'
import type { CliIo } from '../io.js'
import { durationMs } from './arguments.js'
import { baseUrlOf } from './base-url.js'
import { NoSandboxError } from './errors.js'
import { type Found, findSandbox, nobodyAt } from './find-sandbox.js'
import { done, printResult } from './result.js'
import { connect, knowingWhere, type SharedFlags, type VerbCommands } from './verb-commands.js'

const POLL_MS: DurationMs = 50
/** @source docs/cli.md, "control" */
const PATIENCE_MS: DurationMs = 30 * SECOND_MS
/** Open responses may delay a stop by 5 s; little is left to write after that. */
const STOP_PATIENCE_MS: DurationMs = 15 * SECOND_MS

export function addLifeVerbs(parent: Command, { verb, call, alone }: VerbCommands, io: CliIo): void {
  verb(parent, 'wait', 'wait until the sandbox is healthy, and print its base address', ['wait', 'wait --timeout 2m'])
    .addOption(
      new Option(
        '--timeout <duration>',
        `how long at most, all in all (default: ${formatDuration(PATIENCE_MS)})`,
      ).argParser(durationMs),
    )
    .action(
      alone(async (flags) => {
        // What is found healthy in the end is asked as any other verb asks it.
        const { timeout = PATIENCE_MS, ...others } = flags
        const found = await healthySandbox(others, timeout, io)
        const { controls, json } = await connect(others, io, found)
        const baseUrl = await knowingWhere(found, async () => baseUrlOf(found.controlUrl, await controls.state()))
        await printResult({ value: { baseUrl, controlUrl: found.controlUrl }, text: baseUrl }, io, json)
        return EXIT.ok
      }),
    )
  verb(parent, 'stop', 'stop the sandbox, and wait until it is gone', ['stop']).action(
    call(async ({ sandbox, found }) => {
      await sandbox.shutdown()
      await untilGone(found, io)
      return done(`The sandbox at ${found.controlUrl} has stopped.`, { stopped: found.controlUrl })
    }),
  )
}

/** Polls every place: a sandbox that is starting may write its locator at any moment. */
async function healthySandbox(flags: SharedFlags, timeout: DurationMs, io: CliIo): Promise<Found> {
  const giveUpAt = io.monotonic() + timeout
  for (;;) {
    const found = await findOrNot(flags, io)
    const patience = Math.min(HEALTH_PATIENCE_MS, Math.max(1, giveUpAt - io.monotonic()))
    if ('controlUrl' in found && (await askHealth(found.controlUrl, patience)).kind === 'healthy') return found
    if (io.monotonic() >= giveUpAt) {
      const message = found instanceof NoSandboxError ? found.message : nobodyAt(found.controlUrl, found.how)
      throw new NoSandboxError(`Waited ${formatDuration(timeout)}. ${message}`)
    }
    await pause(POLL_MS)
  }
}

async function findOrNot({ url }: SharedFlags, io: CliIo): Promise<Found | NoSandboxError> {
  try {
    return await findSandbox(url, io)
  } catch (error) {
    if (error instanceof NoSandboxError) return error
    throw error
  }
}

/** The port closes first; everything is on disk once the process has ended. */
async function untilGone({ controlUrl, pid }: Found, io: CliIo): Promise<void> {
  const giveUpAt = io.monotonic() + STOP_PATIENCE_MS
  const isThere = async () =>
    (await askHealth(controlUrl)).kind !== 'none' || (pid !== undefined && pid !== io.pid && isOwnProcess(pid))
  while (await isThere()) {
    if (io.monotonic() >= giveUpAt) {
      throw new Failure('STILL_RUNNING', `The sandbox at ${controlUrl} was asked to stop but is still running.`)
    }
    await pause(POLL_MS)
  }
}

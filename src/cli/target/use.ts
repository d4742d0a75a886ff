import { addressOf, findTarget, knownTargets, ownerOf, SANDBOX } from '../../client/target.js'
import { changeTargetConfig, PRODUCTION, readTargetConfig } from '../../client/target-config.js'
import { TargetError } from '../../client/target-error.js'
import { printResult } from '../control/result.js'
import type { CliIo } from '../io.js'

/**
 * Makes a target the default. Production cannot be: a choice that
 * someone made long ago must not decide what a command writes to today.
 */
export async function useTarget(name: string, io: CliIo, json: boolean): Promise<void> {
  const known = await knownTargets(await readTargetConfig(io.env), io)
  const target = findTarget(known, name)
  if (name === PRODUCTION || (target.baseUrl && ownerOf(known, target.baseUrl.value)?.name === PRODUCTION)) {
    throw new TargetError('INVALID_TARGET', `Production cannot be the default target: give -t ${name} each time.`)
  }
  const { value } = addressOf(target)
  await changeTargetConfig(io.env, { use: name === SANDBOX ? null : name })
  await printResult({ value: { name, baseUrl: value }, text: `${name}: ${value}` }, io, json)
}

import { findTarget, knownTargets, SANDBOX } from '../../client/target.js'
import { changeTargetConfig, readTargetConfig } from '../../client/target-config.js'
import { printResult } from '../control/result.js'
import type { CliIo } from '../io.js'
import { say } from '../print.js'

/** Forgets what is stored for a target. Built-in targets can be set again. */
export async function removeTarget(name: string, io: CliIo, json: boolean): Promise<void> {
  const config = await readTargetConfig(io.env)
  findTarget(await knownTargets(config, io), name)
  if (!config.targets.has(name)) {
    const note = `Nothing is stored for the target ${name}.`
    await printResult({ value: { removed: null }, text: '', note }, io, json)
    return
  }
  const wasUsed = config.use === name
  await changeTargetConfig(io.env, { target: { name, kept: null }, ...(wasUsed ? { use: null } : {}) })
  await printResult({ value: { removed: name }, text: `Removed the target ${name}.` }, io, json)
  if (wasUsed) say(io.stderr, `The default target is ${SANDBOX} again.`)
}

import { expect, it } from 'vitest'
import { stringifyJson } from '../../src/contract/json.js'
import type { Machine } from '../../src/core/machine.js'
import type { Reply } from '../../src/domain/messages.js'
import type { SpaceState } from '../../src/domain/state.js'
import { type HeldReply, Keeper } from '../../src/store/keeper.js'
import { Recovery } from '../../src/store/recovery.js'
import { runs, TEST_SEED } from '../support/test-seed.js'
import { Chance } from './chance.js'
import { Commands } from './commands.js'
import { FakeWriter, type Fate } from './fake-writer.js'
import { applyStep, differenceOf, openMachine, SECRET_KEY, type Step, textOf } from './machine.js'

const ANY_FATE: readonly Fate[] = ['kept', 'kept', 'kept later', 'kept later', 'fails', 'fails later']

/** A response, and the commands applied before it. */
interface Heard {
  readonly at: number
  readonly step: Step
  readonly witness: HeldReply
  readonly reply: Reply | undefined
  readonly isDone: boolean
}

/** A reply is watched as the sandbox does it. */
function watch(keeper: Keeper, reply: Reply): HeldReply {
  keeper.watch(reply, reply.isOperated && reply.exchange?.space === '')
  return reply
}

/** The default space's pets as GET /v1/pets lists them. */
function listed({ pets }: SpaceState): string {
  return stringifyJson(pets.slice(-100).reverse())
}

it('shows no change that was rolled back, and stores every change that it showed', async () => {
  const seed = TEST_SEED
  let failures = 0
  for (let run = 0; run < runs(12); run++) {
    const said = `seed ${seed}, run ${run}`
    const chance = new Chance(`${seed}:${run}`)
    const writer = new FakeWriter()
    const keeper = new Keeper(writer, () => {})
    const machine = openMachine({ sandbox: { logLimit: 5, rateLimit: false }, store: keeper })
    const commands = new Commands(`${seed}:${run}`)
    const seedState = machine.spaces.default.seed
    const heard: Heard[] = []
    writer.fate = () => chance.oneOf(ANY_FATE)
    for (let turn = 0; turn < 150; turn++) {
      for (let count = chance.integer(1, 7); count > 0; count--) heard.push(hear(machine, commands, writer, keeper))
      void keeper.settle()
      if (chance.percent(40)) writer.release()
      if (chance.percent(60)) await new Promise(setImmediate)
    }
    while (keeper.settle() !== undefined) {
      writer.release()
      await new Promise(setImmediate)
    }
    // A run with an early reset of all keys writes hardly any change.
    failures += writer.failures

    // As the next start reads it: the document, and all that was kept.
    const recovery = new Recovery()
    recovery.addState(seedState)
    const kept = [...writer.kept]
    for (const { at, step, witness, reply, isDone } of heard) {
      while (kept[0] !== undefined && kept[0].at < at) recovery.apply((kept.shift() as (typeof kept)[number]).change)
      const keptByIt = kept.filter((one) => one.at === at).length
      if (witness.withheld === undefined) holdAgainst(recovery.state(), keptByIt, { step, reply, isDone }, said)
    }
    for (const { change } of kept) recovery.apply(change)
    expect(differenceOf(textOf(machine.spaces.default.state()), textOf(recovery.state())), said).toBeUndefined()
  }
  expect(failures, `seed ${seed}`).toBeGreaterThan(0)
})

/** Applies the next command, or, often, a list of the pets or a look at a key. */
function hear(machine: Machine, commands: Commands, writer: FakeWriter, keeper: Keeper): Heard {
  const step = commands.next()
  const at = ++writer.now
  const outcome = applyStep(machine, step)
  if (outcome.kind === 'reply') {
    commands.answered(outcome.reply)
    return { at, step, witness: watch(keeper, outcome.reply), reply: outcome.reply, isDone: true }
  }
  const witness: HeldReply = {}
  if (step.command.kind === 'verb') keeper.watch(witness)
  // The removal of an unknown record changes nothing.
  const isDone = outcome.kind === 'output' && (outcome.output as { removed?: unknown } | null)?.removed !== null
  return { at, step, witness, reply: undefined, isDone }
}

/** A sent response matches the state stored by then. */
function holdAgainst(
  state: SpaceState,
  keptByIt: number,
  { step, reply, isDone }: Omit<Heard, 'at' | 'witness'>,
  said: string,
) {
  const { command } = step
  if (command.kind === 'verb' && command.space === '' && isDone) {
    const isStored = /^(pets\.|keys\.add|reset|snapshots\.restore)/.test(command.verb)
    const given = [SECRET_KEY.key, SECRET_KEY.label]
    const isGiven = given.includes(String((command.input as { key?: unknown } | null)?.key))
    if (isStored && !isGiven) expect(keptByIt, `${textOf(command)}, ${said}`).toBe(1)
  }
  if (command.kind !== 'request' || reply === undefined || typeof reply.body !== 'string') return
  const { request } = command
  const [, token = ''] = /^bearer +([^~]*)/i.exec(String(request.headers.authorization ?? '')) ?? []
  const isValid =
    token === SECRET_KEY.key || state.keys.some(({ key, always }) => key === token && always !== 'revoked')
  const what = `${textOf(request)} → ${reply.status} ${reply.body}, ${said}`
  // The given key may have been removed, which is not stored.
  if (token !== SECRET_KEY.key && reply.status === 401 && reply.body.includes('invalid_api_key'))
    if (!reply.headers.includes('Preference-Applied'))
      expect(isValid && !request.headers.authorization?.includes('~'), what).toBe(false)
  if (reply.exchange?.space !== '' || reply.fault !== undefined || reply.headers.includes('X-Sandbox-Reason')) return
  if (reply.status === 201) expect(keptByIt, what).toBe(1)
  if (reply.status !== 200) return
  if (request.target === '/v1/pets?limit=100') expect(reply.body, what).toBe(listed(state))
  const [, id] = /\/v1\/pets\/(\d+)$/.exec(request.target) ?? []
  if (id !== undefined)
    expect(
      state.pets.map((pet) => String(pet.id)),
      what,
    ).toContain(id)
}

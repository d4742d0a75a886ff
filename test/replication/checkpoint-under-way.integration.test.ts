import { describe, expect, it, vi } from 'vitest'
import { applyVerb } from '../../src/control/apply-verb.js'
import { perform } from '../../src/control/perform.js'
import { digestSandbox } from '../../src/core/checkpoint.js'
import { type CommandLog, compareIds, LogUnavailable } from '../../src/replication/command-log.js'
import { MEMBER_TIMEOUT_MS } from '../../src/replication/group.js'
import { Chance } from '../machine/chance.js'
import { Commands } from '../machine/commands.js'
import type { MemoryLine } from '../support/memory-log.js'
import { runs, TEST_SEED } from '../support/test-seed.js'
import { groupOfReplicas, type TestReplica } from './group-of-replicas.js'

/** How far the writing of a checkpoint is. */
const STEPS = ['it was begun', 'a piece of it was written', 'all of it was written', 'it was kept'] as const
type Step = (typeof STEPS)[number]

/** A log that says how far a checkpoint is that is written into it. */
function toldSteps(log: MemoryLine, at: (step: Step) => void): CommandLog {
  return {
    append: (entry, signal) => log.append(entry, signal),
    follow: (after, follower) => log.follow(after, follower),
    end: () => log.end(),
    loadCheckpoint: () => log.loadCheckpoint(),
    async saveCheckpoint({ id, pieces }, trimUpTo) {
      at('it was begun')
      const told = (function* () {
        let written = 0
        for (const piece of pieces) {
          if (written++ === 1) at('a piece of it was written')
          yield piece
        }
        at('all of it was written')
      })()
      await log.saveCheckpoint({ id, pieces: told }, trimUpTo)
      at('it was kept')
    },
    clear: () => log.clear(),
    close: () => log.close(),
  }
}

/** A key that no random verb removes. */
const STEADY = 'steady-key'
const OPTIONS = { rateLimit: false, maxSpaces: 5, logLimit: 60, apiKey: `steady=${STEADY}` }
/** Refused, but an entry of the log all the same: it takes few of them until a checkpoint is due. */
const LARGE = { name: 'x'.repeat(1_000_000) }
const LARGE_ONES = 9

/** A group in which somebody does all that there is to do, and remembers what was acknowledged. */
async function busyGroup(seed: string) {
  const { replica, log, time } = groupOfReplicas()
  let at: (step: Step) => void = () => {}
  const join = () => replica(OPTIONS)
  const writer = await replica(OPTIONS, (line) => toldSteps(line, (step) => at(step)))
  const other = await join()
  const chance = new Chance(seed)
  const commands = new Commands(seed)
  const posted: Promise<void>[] = []
  const acknowledged: string[] = []
  let names = 0
  return {
    log,
    time,
    writer,
    other,
    join,
    acknowledged,
    /** Something random, asked of some of them. */
    async use(count: number, ...asked: readonly TestReplica[]): Promise<void> {
      for (let i = 0; i < count; i++) {
        const one = chance.oneOf(asked)
        const name = `pet ${names++}`
        posted.push(
          one
            .post({ name, categoryId: 1 }, STEADY)
            .then(({ status }) => void (status === 201 && acknowledged.push(name))),
        )
        const { command } = commands.next()
        time.now = Math.max(time.now, commands.wall)
        // What takes all pets away would take the acknowledged ones, too.
        if (command.kind === 'verb' && command.space !== '')
          posted.push(
            Promise.resolve(one.core.controlTarget.change(command, applyVerb)).then(
              () => {},
              () => {},
            ),
          )
        if (command.kind === 'request') posted.push(Promise.resolve(one.core.service(command.request)).then(() => {}))
        if (chance.integer(0, 2) === 0) await new Promise(setImmediate)
      }
    },
    /** Until all that was asked is answered. */
    async answered(): Promise<void> {
      await Promise.all(posted.splice(0))
    },
    /** So much that a checkpoint is due. */
    async untilDue(asked: TestReplica): Promise<void> {
      for (let i = 0; i < LARGE_ONES; i++) expect((await asked.post(LARGE, STEADY)).status).toBe(400)
    },
    /** Does something when the next checkpoint is so far. @returns resolves when it was done */
    atStep(step: Step, act: () => void): Promise<void> {
      return new Promise((resolve) => {
        at = (now) => {
          if (now !== step) return
          at = () => {}
          act()
          resolve()
        }
      })
    },
  }
}
type BusyGroup = Awaited<ReturnType<typeof busyGroup>>

/** Patient, since a machine may be busy. */
function until(isSo: () => boolean | Promise<boolean>): Promise<true> {
  return vi.waitUntil(isSo, { timeout: 60_000 })
}

async function digests(...replicas: readonly TestReplica[]): Promise<readonly string[]> {
  for (let round = 0; round < 2; round++) {
    await new Promise(setImmediate)
    for (const { core } of replicas) await core.controlTarget.read(() => {})
  }
  return [...new Set(replicas.map(({ core }) => digestSandbox(core.spaces)))]
}

/** What can happen meanwhile. @returns brings it to its end, and gives those who live then */
const EVENTS: Readonly<Record<string, (group: BusyGroup) => () => Promise<readonly TestReplica[]>>> = {
  'its writer is cut off for a while': ({ writer, other }) => {
    writer.line.cutOff()
    return async () => {
      writer.line.restore()
      return [writer, other]
    }
  },
  'its writer is killed': ({ writer, other, time }) => {
    writer.line.cutOff()
    return async () => {
      time.now += MEMBER_TIMEOUT_MS + 1
      return [other]
    }
  },
  'its writer hangs, and different writes one meanwhile': ({ log, writer, other, time, untilDue }) => {
    const goOn = writer.line.holdCheckpoints()
    writer.line.hold()
    writer.line.cutOffReading()
    const former = log.checkpoint?.id ?? '0-0'
    return async () => {
      time.now += MEMBER_TIMEOUT_MS + 1
      await untilDue(other)
      await until(() => compareIds(log.checkpoint?.id ?? '0-0', former) > 0)
      const newer = log.checkpoint?.id
      goOn()
      writer.line.restore()
      // It was taken for gone, and has to come again.
      await until(() =>
        writer.core.controlTarget
          .read(() => true)
          .catch((error: unknown) => {
            if (error instanceof LogUnavailable) return false
            throw error
          }),
      )
      expect(log.checkpoint?.id).toBe(newer)
      return [writer, other]
    }
  },
  'somebody else comes': ({ writer, other, join }) => {
    const joining = join()
    return async () => [writer, other, await joining]
  },
  'somebody else goes': ({ writer, other }) => {
    const closing = other.core.close()
    return async () => {
      await closing
      return [writer]
    }
  },
  'its writer stops': ({ writer, other }) => {
    const closing = writer.core.close()
    return async () => {
      await closing
      return [other]
    }
  },
}

describe.each(Object.keys(EVENTS))('a checkpoint in progress when %s', (event) => {
  const first = new Chance(`${TEST_SEED}:${event}`).integer(0, STEPS.length)
  it.each([...STEPS.slice(first), ...STEPS.slice(0, first)].slice(0, runs(STEPS.length)))(
    'loses and repeats nothing if %s, and the next one is written',
    async (step) => {
      const seed = TEST_SEED
      const group = await busyGroup(seed)
      const { writer, other, log, acknowledged } = group
      await group.use(20, writer, other)
      await group.answered()
      let bringToEnd: (() => Promise<readonly TestReplica[]>) | undefined
      const happened = group.atStep(step, () => {
        bringToEnd = EVENTS[event]?.(group)
      })
      await group.untilDue(other)
      await group.use(10, other)
      await happened
      const living = (await bringToEnd?.()) ?? []
      await group.use(20, ...living)
      await group.answered()
      expect(await digests(...living, await group.join()), `seed ${seed}`).toHaveLength(1)

      // Whoever is the oldest now writes one, as if nothing had been.
      const [one = other] = living
      const former = log.checkpoint?.id ?? '0-0'
      await group.untilDue(one)
      await until(() => compareIds(log.checkpoint?.id ?? '0-0', former) > 0)
      expect(await digests(...living, await group.join()), `seed ${seed}`).toHaveLength(1)

      const names = (await perform(one.core.controlTarget, '', 'pets.list', {})).map(({ name }) => name)
      const repeated = names.filter((name, index) => names.indexOf(name) !== index && name.startsWith('pet '))
      expect(repeated, `seed ${seed}`).toEqual([])
      expect(names, `seed ${seed}`).toEqual(expect.arrayContaining(acknowledged))
      expect(acknowledged.length).toBeGreaterThan(20)
    },
  )
})

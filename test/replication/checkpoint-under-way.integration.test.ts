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

/** Stages of writing a checkpoint. */
const STEPS = ['it began', 'a piece was written', 'all pieces were written', 'it was stored'] as const
type Step = (typeof STEPS)[number]

/** Reports the stages of a checkpoint. */
function reportSteps(log: MemoryLine, at: (step: Step) => void): CommandLog {
  return {
    append: (entry, signal) => log.append(entry, signal),
    follow: (after, follower) => log.follow(after, follower),
    end: () => log.end(),
    loadCheckpoint: () => log.loadCheckpoint(),
    async saveCheckpoint({ id, pieces }, trimUpTo) {
      at('it began')
      const reported = (function* () {
        let written = 0
        for (const piece of pieces) {
          if (written++ === 1) at('a piece was written')
          yield piece
        }
        at('all pieces were written')
      })()
      await log.saveCheckpoint({ id, pieces: reported }, trimUpTo)
      at('it was stored')
    },
    clear: () => log.clear(),
    close: () => log.close(),
  }
}

/** A key that no random verb removes. */
const STEADY = 'steady-key'
const OPTIONS = { rateLimit: false, maxSpaces: 5, logLimit: 60, apiKey: `steady=${STEADY}` }
/** Refused, but stored in the log: a few of them make a checkpoint due. */
const LARGE = { name: 'x'.repeat(1_000_000) }
const LARGE_COUNT = 9

/** A group with random requests and verbs, which records acknowledged pets. */
async function busyGroup(seed: string) {
  const { replica, log, time } = groupOfReplicas()
  let at: (step: Step) => void = () => {}
  const join = () => replica(OPTIONS)
  const writer = await replica(OPTIONS, (line) => reportSteps(line, (step) => at(step)))
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
        // Verbs on the default space might remove acknowledged pets.
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
    async settled(): Promise<void> {
      await Promise.all(posted.splice(0))
    },
    async untilDue(asked: TestReplica): Promise<void> {
      for (let i = 0; i < LARGE_COUNT; i++) expect((await asked.post(LARGE, STEADY)).status).toBe(400)
    },
    /** Acts at a stage of the next checkpoint. @returns resolves after the action */
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

/** Events during a checkpoint. @returns ends the event, and returns the live replicas */
const EVENTS: Readonly<Record<string, (group: BusyGroup) => () => Promise<readonly TestReplica[]>>> = {
  'its writer is cut off temporarily': ({ writer, other }) => {
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
  'its writer hangs, and another replica writes one': ({ log, writer, other, time, untilDue }) => {
    const resume = writer.line.holdCheckpoints()
    writer.line.hold()
    writer.line.cutOffReading()
    const former = log.checkpoint?.id ?? '0-0'
    return async () => {
      time.now += MEMBER_TIMEOUT_MS + 1
      await untilDue(other)
      await until(() => compareIds(log.checkpoint?.id ?? '0-0', former) > 0)
      const newer = log.checkpoint?.id
      resume()
      writer.line.restore()
      // It was removed from the group and rejoins.
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
  'a replica joins': ({ writer, other, join }) => {
    const joining = join()
    return async () => [writer, other, await joining]
  },
  'a replica leaves': ({ writer, other }) => {
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
    'loses and repeats no pet if %s, and the next one is written',
    async (step) => {
      const seed = TEST_SEED
      const group = await busyGroup(seed)
      const { writer, other, log, acknowledged } = group
      await group.use(20, writer, other)
      await group.settled()
      let bringToEnd: (() => Promise<readonly TestReplica[]>) | undefined
      const happened = group.atStep(step, () => {
        bringToEnd = EVENTS[event]?.(group)
      })
      await group.untilDue(other)
      await group.use(10, other)
      await happened
      const living = (await bringToEnd?.()) ?? []
      await group.use(20, ...living)
      await group.settled()
      expect(await digests(...living, await group.join()), `seed ${seed}`).toHaveLength(1)

      // The oldest replica writes the next one.
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

import { setMaxListeners } from 'node:events'
import { afterEach, describe, expect, it } from 'vitest'
import { randomStream } from '../../src/domain/random.js'
import { type CommandLog, type EntryId, LogLost, LogUnavailable } from '../../src/replication/command-log.js'
import { isDown, isUp, RecordingFollower, type RecordingWatcher } from './recording-follower.js'

/** A log under test. */
export interface TestedLog {
  /** Connects another replica. */
  open(): Promise<TestedLine>
  /** @returns restores the current content, as a failover to a lagging copy does */
  mark(): Promise<() => Promise<void>>
  close(): Promise<void>
}

/** A replica's connection to the log, which can be cut. */
export interface TestedLine {
  readonly log: CommandLog
  readonly watcher: RecordingWatcher
  cut(): void
  /** The next entry, with this text, is stored, but the connection is cut before the response. */
  cutBeforeResponseTo(text: string): void
  restore(): void
}

/** Never aborted. */
export const NEVER = new AbortController().signal
setMaxListeners(0, NEVER)

/** Tests for all implementations of CommandLog. */
export function describeLog(where: string, open: () => Promise<TestedLog>): void {
  describe(`a log ${where}`, () => {
    const opened: TestedLog[] = []
    const tried = async () => {
      const log = await open()
      opened.push(log)
      return log
    }
    const lines = async (count: number) => {
      const log = await tried()
      const all = await Promise.all(Array.from({ length: count }, () => log.open()))
      return { all, one: all[0] as TestedLine, other: all.at(-1) as TestedLine, tried: log }
    }
    afterEach(async () => {
      for (const log of opened.splice(0)) await log.close()
    })

    it('passes the same entries to all followers, each with a time not before that of the previous one', async () => {
      const { all } = await lines(3)
      const followers = all.map((line) => followerOf(line, undefined))
      const given = all.map((_line, replica) => Array.from({ length: 50 }, (_, batch) => `${replica}:${batch} 🐕`))
      const ids = await Promise.all(all.map(({ log }, replica) => appendAll(log, `r${replica}`, given[replica] ?? [])))
      for (const follower of followers) await follower.texts(150)
      const [first = [], ...others] = followers.map(({ received }) => received)
      for (const other of others) expect(other).toEqual(first)
      for (const replica of all.keys()) {
        const own = first.filter((entry) => entry.replica === `r${replica}`)
        expect(own.map(({ id, batch, text }) => [id, batch, text])).toEqual(
          given[replica]?.map((text, index) => [ids[replica]?.[index], index + 1, text]),
        )
      }
      const times = first.map(({ now }) => now)
      expect(times).toEqual(times.toSorted((a, b) => a - b))
    })

    it('is followed from an entry, or from the beginning', async () => {
      const { one, other } = await lines(2)
      const ids = await appendAll(one.log, 'a', ['1', '2', '3'])
      const [late, early] = [new RecordingFollower(), new RecordingFollower()]
      other.log.follow(ids[1], late)
      other.log.follow(undefined, early)
      expect(await late.texts(1)).toEqual(['3'])
      expect(await early.texts(3)).toEqual(['1', '2', '3'])
      await one.log.append({ replica: 'a', batch: 4, text: '4' }, NEVER)
      expect(await late.texts(2)).toEqual(['3', '4'])
    })

    it('stores a batch once, even if it is appended repeatedly', async () => {
      const { one, other } = await lines(2)
      const entry = { replica: 'a', batch: 1, text: 'once' }
      const [id] = await appendAll(one.log, 'a', ['once'])
      expect(await one.log.append(entry, NEVER)).toBe(id)
      expect(await other.log.append(entry, NEVER)).toBe(id)
      await one.log.append({ replica: 'a', batch: 2, text: 'last' }, NEVER)
      const follower = followerOf(other, undefined)
      expect(await follower.texts(2)).toEqual(['once', 'last'])
    })

    it('keeps several pending entries in order across a cut connection', async () => {
      const { one, other } = await lines(2)
      const texts = Array.from({ length: 12 }, (_, index) => `text ${index + 1}.`)
      one.cutBeforeResponseTo('text 5.')
      const appended = Promise.all(
        texts.map((text, index) => one.log.append({ replica: 'a', batch: index + 1, text }, NEVER)),
      )
      await one.watcher.until(isDown)
      one.restore()
      const ids = await appended
      const follower = followerOf(other, undefined)
      expect(await follower.texts(12)).toEqual(texts)
      expect(follower.received.map(({ id }) => id)).toEqual(ids)
    })

    it('stores the entries before and after an abandoned one', async () => {
      const { one, other } = await lines(2)
      await appendAll(one.log, 'a', ['1'])
      one.cut()
      await one.watcher.until(isDown)
      const patience = new AbortController()
      const appended = [2, 3, 4].map((batch) =>
        one.log.append({ replica: 'a', batch, text: String(batch) }, batch === 3 ? patience.signal : NEVER),
      )
      patience.abort()
      await expect(appended[1]).rejects.toThrow(LogUnavailable)
      one.restore()
      await Promise.all([appended[0], appended[2]])
      const follower = followerOf(other, undefined)
      expect(await follower.texts(3)).toEqual(['1', '2', '4'])
      await one.watcher.until(isUp)
      await one.log.end()
      await expect(one.log.append({ replica: 'a', batch: 3, text: '3' }, NEVER)).rejects.toThrow(LogLost)
    })

    it('returns an aborted entry to followers if it was stored', async () => {
      const { one } = await lines(1)
      const follower = followerOf(one, undefined)
      await appendAll(one.log, 'a', ['1'])
      one.cutBeforeResponseTo('in doubt')
      const patience = new AbortController()
      const appended = one.log.append({ replica: 'a', batch: 2, text: 'in doubt' }, patience.signal)
      await one.watcher.until(isDown)
      patience.abort()
      await expect(appended).rejects.toThrow(LogUnavailable)
      one.restore()
      await one.log.append({ replica: 'a', batch: 3, text: '3' }, NEVER)
      expect(await follower.texts(3)).toEqual(['1', 'in doubt', '3'])
    })

    it('follows across interruptions, and reports each change of availability once', async () => {
      const { one, other } = await lines(2)
      const follower = followerOf(one, undefined)
      await appendAll(other.log, 'b', ['1'])
      await follower.texts(1)
      one.cut()
      await one.watcher.until(isDown)
      await other.log.append({ replica: 'b', batch: 2, text: '2' }, NEVER)
      await expect(one.log.end()).rejects.toThrow(LogUnavailable)
      one.restore()
      expect(await follower.texts(2)).toEqual(['1', '2'])
      await one.watcher.until(isUp)
      expect(one.watcher.reports.filter(isUp)).toHaveLength(1)
      expect(other.watcher.reports).toEqual([])
      await expect(one.log.end()).resolves.toBeDefined()
    })

    it('rejects all calls while disconnected', async () => {
      const { one } = await lines(1)
      const [id = ''] = await appendAll(one.log, 'a', ['1'])
      one.cut()
      await one.watcher.until(isDown)
      await expect(one.log.end()).rejects.toThrow(LogUnavailable)
      await expect(one.log.loadCheckpoint()).rejects.toThrow(LogUnavailable)
      await expect(one.log.saveCheckpoint({ id, pieces: [''] }, id)).rejects.toThrow(LogUnavailable)
      await expect(one.log.clear()).rejects.toThrow(LogUnavailable)
    })

    it('keeps the newest checkpoint with any content', async () => {
      const { one, other } = await lines(2)
      expect(await one.log.loadCheckpoint()).toBeUndefined()
      const [first = '', second = '', third = ''] = await appendAll(one.log, 'a', ['1', '2', '3'])
      await one.log.saveCheckpoint({ id: second, pieces: [''] }, first)
      expect(await other.log.loadCheckpoint()).toEqual({ id: second, pieces: [''] })
      // Characters of one to four bytes; many pieces, some long.
      const pieces = Array.from({ length: 20 }, (_, index) => '🐕€é\u0000"'.repeat(index * 10_000))
      await one.log.saveCheckpoint({ id: third, pieces: pieces.values() }, first)
      expect(await other.log.loadCheckpoint()).toEqual({ id: third, pieces })
      await other.log.saveCheckpoint({ id: second, pieces: ['older'] }, third)
      await other.log.saveCheckpoint({ id: third, pieces: ['as old'] }, third)
      expect(await other.log.loadCheckpoint()).toEqual({ id: third, pieces })
      // Neither has trimmed the log.
      const follower = followerOf(one, first)
      expect(await follower.texts(2)).toEqual(['2', '3'])
    })

    it('trims entries, and reports the loss to followers that start earlier', async () => {
      const { one, other } = await lines(2)
      const [first, second = '', third = '', fourth = ''] = await appendAll(one.log, 'a', ['1', '2', '3', '4'])
      await one.log.saveCheckpoint({ id: third, pieces: ['state'] }, second)
      const [kept, early, beginning] = [new RecordingFollower(), new RecordingFollower(), new RecordingFollower()]
      other.log.follow(second, kept)
      other.log.follow(first, early)
      other.log.follow(undefined, beginning)
      expect(await kept.texts(2)).toEqual(['3', '4'])
      expect(await early.loss()).not.toBe('')
      expect(await beginning.loss()).not.toBe('')
      expect([...early.received, ...beginning.received]).toEqual([])
      expect((await one.log.end()).id).toBe(fourth)
    })

    it('accepts entries after all but the last were trimmed', async () => {
      const { one, other } = await lines(2)
      const [, second = ''] = await appendAll(one.log, 'a', ['1', '2'])
      await one.log.saveCheckpoint({ id: second, pieces: ['state'] }, second)
      await one.log.append({ replica: 'a', batch: 3, text: '3' }, NEVER)
      await other.log.append({ replica: 'b', batch: 1, text: 'b' }, NEVER)
      const follower = followerOf(other, second)
      expect(await follower.texts(2)).toEqual(['3', 'b'])
    })

    it('refuses a checkpoint of an unknown entry', async () => {
      const { one } = await lines(1)
      const [first = ''] = await appendAll(one.log, 'a', ['1'])
      const never = first.replace(/^\d+/, (ms) => String(Number(ms) + 1_000_000))
      await expect(one.log.saveCheckpoint({ id: never, pieces: ['x'] }, first)).rejects.toThrow(LogLost)
      expect(await one.log.loadCheckpoint()).toBeUndefined()
    })

    it('is cleared, and reports the loss to followers', async () => {
      const { one, other } = await lines(2)
      const [id = ''] = await appendAll(one.log, 'a', ['1'])
      await one.log.saveCheckpoint({ id, pieces: ['state'] }, id)
      const follower = followerOf(one, id)
      await other.log.clear()
      expect((await other.log.end()).id).toBeUndefined()
      expect(await other.log.loadCheckpoint()).toBeUndefined()
      await expect(one.log.append({ replica: 'a', batch: 2, text: '2' }, NEVER)).rejects.toThrow(LogLost)
      await appendAll(other.log, 'b', ['new'])
      expect(await follower.loss()).not.toBe('')
      const next = followerOf(one, undefined)
      expect(await next.texts(1)).toEqual(['new'])
      expect(follower.received).toEqual([])
    })

    it('reports a lost end only to replicas that read or appended it', async () => {
      const { one, other, tried } = await lines(2)
      const [reader, behind] = [new RecordingFollower(), new RecordingFollower()]
      const [first] = await appendAll(one.log, 'a', ['1'])
      const rollBack = await tried.mark()
      one.log.follow(first, reader)
      await one.log.append({ replica: 'a', batch: 2, text: 'lost' }, NEVER)
      await reader.texts(1)
      await rollBack()
      other.log.follow(first, behind)
      await other.log.append({ replica: 'b', batch: 1, text: 'other' }, NEVER)
      expect(await reader.loss()).not.toBe('')
      expect(await behind.texts(1)).toEqual(['other'])
      await expect(one.log.append({ replica: 'a', batch: 3, text: '3' }, NEVER)).rejects.toThrow(LogLost)
      expect(reader.received.map(({ text }) => text)).toEqual(['lost'])
    })

    it('ends all calls when it is closed', async () => {
      const { one, other } = await lines(2)
      const follower = followerOf(one, undefined)
      await appendAll(other.log, 'b', ['1'])
      await follower.texts(1)
      one.cut()
      await one.watcher.until(isDown)
      const appended = one.log.append({ replica: 'a', batch: 1, text: 'never' }, NEVER)
      const reports = one.watcher.reports.length
      await Promise.all([one.log.close(), expect(appended).rejects.toThrow(LogUnavailable)])
      one.restore()
      await other.log.append({ replica: 'b', batch: 2, text: '2' }, NEVER)
      await expect(one.log.end()).rejects.toThrow(LogUnavailable)
      expect(follower.received).toHaveLength(1)
      expect(one.watcher.reports).toHaveLength(reports)
    })

    it.each([1, 2, 3])(
      'stores each acknowledged entry once and in the same order across random cuts (seed %i)',
      async (seed) => {
        const chance = randomStream(`log ${seed}`)
        const { all } = await lines(3)
        const followers = all.map((line) => followerOf(line, undefined))
        const acknowledged: string[] = []
        let isOver = false
        const writers = all.map(async ({ log }, replica) => {
          const pending = new Set<Promise<void>>()
          for (let batch = 1; batch <= 60; batch++) {
            const text = `${replica}:${batch};`
            const patience = new AbortController()
            const isAborted = chance.next() < 0.3
            const appended = log
              .append({ replica: `r${replica}`, batch, text }, patience.signal)
              .then(
                () => void acknowledged.push(text),
                (error) => expect(error).toBeInstanceOf(LogUnavailable),
              )
              .finally(() => pending.delete(appended))
            pending.add(appended)
            if (isAborted) setImmediate(() => patience.abort())
            if (pending.size === 5) await Promise.race(pending)
          }
          await Promise.all(pending)
        })
        const cutRandomly = async () => {
          for (let next = 0; !isOver; next++) {
            const line = all[next % all.length] as TestedLine
            line.cut()
            await line.watcher.until(isDown)
            line.restore()
            await line.watcher.until(isUp)
          }
        }
        const cutting = cutRandomly()
        await Promise.all(writers)
        isOver = true
        await cutting
        const last = await Promise.all(
          all.map(({ log }, replica) =>
            log.append({ replica: `r${replica}`, batch: 61, text: `end ${replica}` }, NEVER),
          ),
        )
        await Promise.all(followers.map((follower) => untilHas(follower, last)))
        const [texts = [], ...others] = followers.map((follower) => follower.received.map(({ text }) => text))
        for (const other of others) expect(other).toEqual(texts)
        expect(new Set(texts).size).toBe(texts.length)
        expect(acknowledged.filter((text) => !texts.includes(text))).toEqual([])
        for (const replica of all.keys()) {
          const batches = texts.flatMap((text) =>
            text.startsWith(`${replica}:`) ? [Number.parseInt(text.slice(2), 10)] : [],
          )
          expect(batches).toEqual(batches.toSorted((a, b) => a - b))
        }
      },
    )
  })
}

function followerOf({ log }: TestedLine, after: EntryId | undefined): RecordingFollower {
  const follower = new RecordingFollower()
  log.follow(after, follower)
  return follower
}

async function appendAll(log: CommandLog, replica: string, texts: readonly string[]): Promise<readonly EntryId[]> {
  const ids: EntryId[] = []
  for (const [index, text] of texts.entries()) ids.push(await log.append({ replica, batch: index + 1, text }, NEVER))
  return ids
}

async function untilHas(follower: RecordingFollower, ids: readonly EntryId[]): Promise<void> {
  while (!ids.every((id) => follower.received.some((entry) => entry.id === id))) {
    await follower.texts(follower.received.length + 1)
  }
}

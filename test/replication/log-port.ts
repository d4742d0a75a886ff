import { setMaxListeners } from 'node:events'
import { afterEach, describe, expect, it } from 'vitest'
import { randomStream } from '../../src/domain/random.js'
import { type CommandLog, type EntryId, LogLost, LogUnavailable } from '../../src/replication/command-log.js'
import { AFollower, type AWatcher, isDown, isUp } from './a-follower.js'

/** A log under test, and what can happen to it. */
export interface TriedLog {
  /** One more replica's way to it. */
  open(): Promise<TriedLine>
  /** Remembers what is there; what it gives puts that back, as a failover to a copy that lagged does. */
  mark(): Promise<() => Promise<void>>
  close(): Promise<void>
}

/** One replica's way to a log, which can be cut. */
export interface TriedLine {
  readonly log: CommandLog
  readonly watcher: AWatcher
  cut(): void
  /** The next entry, which has this text, is taken, but the line is cut before its answer has come. */
  cutInAnswerTo(text: string): void
  restore(): void
}

/** Does not come; as many as like wait for it. */
export const NEVER = new AbortController().signal
setMaxListeners(0, NEVER)

/** What every log promises to those who share it. */
export function describeLog(where: string, open: () => Promise<TriedLog>): void {
  describe(`a log ${where}`, () => {
    const opened: TriedLog[] = []
    const tried = async () => {
      const log = await open()
      opened.push(log)
      return log
    }
    const lines = async (count: number) => {
      const log = await tried()
      const all = await Promise.all(Array.from({ length: count }, () => log.open()))
      return { all, one: all[0] as TriedLine, other: all.at(-1) as TriedLine, tried: log }
    }
    afterEach(async () => {
      for (const log of opened.splice(0)) await log.close()
    })

    it('tells all who follow it the same entries in the same order, its clock never going back', async () => {
      const { all } = await lines(3)
      const followers = all.map(({ log }) => {
        const follower = new AFollower()
        log.follow(undefined, follower)
        return follower
      })
      const appended = await Promise.all(
        all.map(async ({ log }, replica) => {
          const ids: EntryId[] = []
          for (let batch = 1; batch <= 50; batch++) {
            ids.push(await log.append({ replica: `r${replica}`, batch, text: `${replica}:${batch} 🐕` }, NEVER))
          }
          return ids
        }),
      )
      const [first, ...others] = await Promise.all(
        followers.map(async (follower) => {
          await follower.texts(150)
          return follower.heard
        }),
      )
      for (const other of others) expect(other).toEqual(first)
      for (const [replica, ids] of appended.entries()) {
        const own = first?.filter((entry) => entry.replica === `r${replica}`)
        expect(own?.map(({ id }) => id)).toEqual(ids)
        expect(own?.map(({ batch }) => batch)).toEqual(ids.map((_id, index) => index + 1))
        expect(own?.map(({ text }) => text)).toEqual(ids.map((_id, index) => `${replica}:${index + 1} 🐕`))
      }
      const times = first?.map(({ now }) => now) ?? []
      expect(times).toEqual(times.toSorted((a, b) => a - b))
    })

    it('is followed from an entry, or from the beginning', async () => {
      const { one, other } = await lines(2)
      const ids = await appendAll(one.log, 'a', ['1', '2', '3'])
      const [late, early] = [new AFollower(), new AFollower()]
      other.log.follow(ids[1], late)
      other.log.follow(undefined, early)
      expect(await late.texts(1)).toEqual(['3'])
      expect(await early.texts(3)).toEqual(['1', '2', '3'])
      await one.log.append({ replica: 'a', batch: 4, text: '4' }, NEVER)
      expect(await late.texts(2)).toEqual(['3', '4'])
    })

    it('tells nothing more to a follower that has stopped', async () => {
      const { one } = await lines(1)
      const [stopped, goesOn] = [new AFollower(), new AFollower()]
      const stop = one.log.follow(undefined, stopped)
      one.log.follow(undefined, goesOn)
      await appendAll(one.log, 'a', ['1'])
      await stopped.texts(1)
      stop()
      await one.log.append({ replica: 'a', batch: 2, text: '2' }, NEVER)
      await goesOn.texts(2)
      expect(await stopped.texts(1)).toEqual(['1'])
    })

    it('takes a batch once, however often it is handed in', async () => {
      const { one, other } = await lines(2)
      const entry = { replica: 'a', batch: 1, text: 'once' }
      const [id] = await appendAll(one.log, 'a', ['once'])
      expect(await one.log.append(entry, NEVER)).toBe(id)
      expect(await other.log.append(entry, NEVER)).toBe(id)
      await one.log.append({ replica: 'a', batch: 2, text: 'last' }, NEVER)
      const follower = new AFollower()
      other.log.follow(undefined, follower)
      expect(await follower.texts(2)).toEqual(['once', 'last'])
    })

    it('refuses a batch below the last of its replica', async () => {
      const { one } = await lines(1)
      await appendAll(one.log, 'a', ['1', '2'])
      await expect(one.log.append({ replica: 'a', batch: 1, text: '1' }, NEVER)).rejects.toThrow(LogLost)
    })

    it('appends what is handed in at once in the order given', async () => {
      const { one } = await lines(1)
      const texts = Array.from({ length: 30 }, (_, index) => String(index))
      await Promise.all(texts.map((text, index) => one.log.append({ replica: 'a', batch: index + 1, text }, NEVER)))
      const follower = new AFollower()
      one.log.follow(undefined, follower)
      expect(await follower.texts(30)).toEqual(texts)
    })

    it('says where it ends, and what its clock says', async () => {
      const { one, other } = await lines(2)
      expect((await one.log.end()).id).toBeUndefined()
      const [, id] = await appendAll(one.log, 'a', ['1', '2'])
      const end = await other.log.end()
      expect(end.id).toBe(id)
      const follower = new AFollower()
      other.log.follow(undefined, follower)
      await follower.texts(2)
      expect(end.now).toBeGreaterThanOrEqual(Number(follower.heard.at(-1)?.now))
    })

    it('appends once what was handed in while it was away', async () => {
      const { one, other } = await lines(2)
      await appendAll(one.log, 'a', ['1'])
      one.cut()
      const appended = one.log.append({ replica: 'a', batch: 2, text: '2' }, NEVER)
      expect(await one.watcher.until(isDown)).not.toBe('')
      one.restore()
      const id = await appended
      expect((await other.log.end()).id).toBe(id)
      await one.watcher.until(isUp)
      const follower = new AFollower()
      other.log.follow(undefined, follower)
      expect(await follower.texts(2)).toEqual(['1', '2'])
    })

    it('looks up what it took when its answer was lost', async () => {
      const { one, other } = await lines(2)
      const follower = new AFollower()
      one.log.follow(undefined, follower)
      for (let batch = 1; batch <= 5; batch++) {
        one.cutInAnswerTo(`text ${batch}.`)
        const appended = one.log.append({ replica: 'a', batch, text: `text ${batch}.` }, NEVER)
        await one.watcher.until(isDown)
        one.restore()
        expect((await other.log.end()).id).toBe(await appended)
        await one.watcher.until(isUp)
      }
      expect(await follower.texts(5)).toEqual(['text 1.', 'text 2.', 'text 3.', 'text 4.', 'text 5.'])
    })

    it('has several under way, none of which stands before those handed in before it, whatever is cut', async () => {
      const { one, other } = await lines(2)
      const texts = Array.from({ length: 12 }, (_, index) => `text ${index + 1}.`)
      one.cutInAnswerTo('text 5.')
      const appended = Promise.all(
        texts.map((text, index) => one.log.append({ replica: 'a', batch: index + 1, text }, NEVER)),
      )
      await one.watcher.until(isDown)
      one.restore()
      const ids = await appended
      const follower = new AFollower()
      other.log.follow(undefined, follower)
      expect(await follower.texts(12)).toEqual(texts)
      expect(follower.heard.map(({ id }) => id)).toEqual(ids)
    })

    it('lets those stand that were handed in before and after one that is given up', async () => {
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
      const follower = new AFollower()
      other.log.follow(undefined, follower)
      expect(await follower.texts(3)).toEqual(['1', '2', '4'])
      await one.watcher.until(isUp)
      await one.log.end()
      await expect(one.log.append({ replica: 'a', batch: 3, text: '3' }, NEVER)).rejects.toThrow(LogLost)
    })

    it('gives up at once when the signal comes; what was not appended then is not appended later', async () => {
      const { one, other } = await lines(2)
      await appendAll(one.log, 'a', ['1'])
      one.cut()
      await one.watcher.until(isDown)
      const patience = new AbortController()
      const appended = one.log.append({ replica: 'a', batch: 2, text: 'given up' }, patience.signal)
      patience.abort()
      await expect(appended).rejects.toThrow(LogUnavailable)
      one.restore()
      await one.log.append({ replica: 'a', batch: 3, text: '3' }, NEVER)
      const follower = new AFollower()
      other.log.follow(undefined, follower)
      expect(await follower.texts(2)).toEqual(['1', '3'])
      await expect(one.log.append({ replica: 'a', batch: 2, text: 'given up' }, NEVER)).rejects.toThrow(LogLost)
    })

    it('tells by its entries that something was appended though it was given up', async () => {
      const { one } = await lines(1)
      const follower = new AFollower()
      one.log.follow(undefined, follower)
      await appendAll(one.log, 'a', ['1'])
      one.cutInAnswerTo('in doubt')
      const patience = new AbortController()
      const appended = one.log.append({ replica: 'a', batch: 2, text: 'in doubt' }, patience.signal)
      await one.watcher.until(isDown)
      patience.abort()
      await expect(appended).rejects.toThrow(LogUnavailable)
      one.restore()
      await one.log.append({ replica: 'a', batch: 3, text: '3' }, NEVER)
      expect(await follower.texts(3)).toEqual(['1', 'in doubt', '3'])
    })

    it('follows across interruptions, and says once that it was away and is back', async () => {
      const { one, other } = await lines(2)
      const follower = new AFollower()
      one.log.follow(undefined, follower)
      await appendAll(other.log, 'b', ['1'])
      await follower.texts(1)
      one.cut()
      await one.watcher.until(isDown)
      await other.log.append({ replica: 'b', batch: 2, text: '2' }, NEVER)
      await expect(one.log.end()).rejects.toThrow(LogUnavailable)
      one.restore()
      expect(await follower.texts(2)).toEqual(['1', '2'])
      await one.watcher.until(isUp)
      expect(one.watcher.told.filter(isUp)).toHaveLength(1)
      expect(other.watcher.told).toEqual([])
      await expect(one.log.end()).resolves.toBeDefined()
    })

    it('answers nothing while it is away', async () => {
      const { one } = await lines(1)
      const [id = ''] = await appendAll(one.log, 'a', ['1'])
      one.cut()
      await one.watcher.until(isDown)
      await expect(one.log.end()).rejects.toThrow(LogUnavailable)
      await expect(one.log.loadCheckpoint()).rejects.toThrow(LogUnavailable)
      await expect(one.log.saveCheckpoint({ id, pieces: [''] }, id)).rejects.toThrow(LogUnavailable)
      await expect(one.log.clear()).rejects.toThrow(LogUnavailable)
    })

    it('keeps the newest checkpoint, whatever is in it', async () => {
      const { one, other } = await lines(2)
      expect(await one.log.loadCheckpoint()).toBeUndefined()
      const [first = '', second = '', third = ''] = await appendAll(one.log, 'a', ['1', '2', '3'])
      await one.log.saveCheckpoint({ id: second, pieces: [''] }, first)
      expect(await other.log.loadCheckpoint()).toEqual({ id: second, pieces: [''] })
      // Characters of one byte to four; more pieces than are written at a time, some of them long.
      const pieces = Array.from({ length: 20 }, (_, index) => '🐕€é\u0000"'.repeat(index * 10_000))
      await one.log.saveCheckpoint({ id: third, pieces: pieces.values() }, first)
      expect(await other.log.loadCheckpoint()).toEqual({ id: third, pieces })
      await other.log.saveCheckpoint({ id: second, pieces: ['older'] }, third)
      await other.log.saveCheckpoint({ id: third, pieces: ['as old'] }, third)
      expect(await other.log.loadCheckpoint()).toEqual({ id: third, pieces })
      // Neither of the two has cut off anything.
      const follower = new AFollower()
      one.log.follow(first, follower)
      expect(await follower.texts(2)).toEqual(['2', '3'])
    })

    it('cuts off what nobody has to read any more, and says so to whoever comes too late', async () => {
      const { one, other } = await lines(2)
      const [first, second = '', third = '', fourth = ''] = await appendAll(one.log, 'a', ['1', '2', '3', '4'])
      await one.log.saveCheckpoint({ id: third, pieces: ['state'] }, second)
      const [kept, early, beginning] = [new AFollower(), new AFollower(), new AFollower()]
      other.log.follow(second, kept)
      other.log.follow(first, early)
      other.log.follow(undefined, beginning)
      expect(await kept.texts(2)).toEqual(['3', '4'])
      expect(await early.loss()).not.toBe('')
      expect(await beginning.loss()).not.toBe('')
      expect([...early.heard, ...beginning.heard]).toEqual([])
      expect((await one.log.end()).id).toBe(fourth)
    })

    it('cuts off nothing after a checkpoint', async () => {
      const { one } = await lines(1)
      const [, second = '', , fourth = ''] = await appendAll(one.log, 'a', ['1', '2', '3', '4'])
      await one.log.saveCheckpoint({ id: second, pieces: ['state'] }, fourth)
      const follower = new AFollower()
      one.log.follow(second, follower)
      expect(await follower.texts(2)).toEqual(['3', '4'])
    })

    it('takes entries after all were cut off but the last', async () => {
      const { one, other } = await lines(2)
      const [, second = ''] = await appendAll(one.log, 'a', ['1', '2'])
      await one.log.saveCheckpoint({ id: second, pieces: ['state'] }, second)
      await one.log.append({ replica: 'a', batch: 3, text: '3' }, NEVER)
      await other.log.append({ replica: 'b', batch: 1, text: 'b' }, NEVER)
      const follower = new AFollower()
      other.log.follow(second, follower)
      expect(await follower.texts(2)).toEqual(['3', 'b'])
    })

    it('takes no checkpoint of what it does not have', async () => {
      const { one } = await lines(1)
      const [first = ''] = await appendAll(one.log, 'a', ['1'])
      const never = first.replace(/^\d+/, (ms) => String(Number(ms) + 1_000_000))
      await expect(one.log.saveCheckpoint({ id: never, pieces: ['x'] }, first)).rejects.toThrow(LogLost)
      expect(await one.log.loadCheckpoint()).toBeUndefined()
    })

    it('begins anew, and tells those who still live in the past', async () => {
      const { one, other } = await lines(2)
      const [id = ''] = await appendAll(one.log, 'a', ['1'])
      await one.log.saveCheckpoint({ id, pieces: ['state'] }, id)
      const follower = new AFollower()
      one.log.follow(id, follower)
      await other.log.clear()
      expect((await other.log.end()).id).toBeUndefined()
      expect(await other.log.loadCheckpoint()).toBeUndefined()
      await expect(one.log.append({ replica: 'a', batch: 2, text: '2' }, NEVER)).rejects.toThrow(LogLost)
      await appendAll(other.log, 'b', ['new'])
      expect(await follower.loss()).not.toBe('')
      const anew = new AFollower()
      one.log.follow(undefined, anew)
      expect(await anew.texts(1)).toEqual(['new'])
      expect(follower.heard).toEqual([])
    })

    it('tells who read or appended its end that it has lost it, and nobody else', async () => {
      const { one, other, tried } = await lines(2)
      const [reader, behind] = [new AFollower(), new AFollower()]
      const [first] = await appendAll(one.log, 'a', ['1'])
      const goBack = await tried.mark()
      one.log.follow(first, reader)
      await one.log.append({ replica: 'a', batch: 2, text: 'lost' }, NEVER)
      await reader.texts(1)
      await goBack()
      other.log.follow(first, behind)
      await other.log.append({ replica: 'b', batch: 1, text: 'other' }, NEVER)
      expect(await reader.loss()).not.toBe('')
      expect(await behind.texts(1)).toEqual(['other'])
      await expect(one.log.append({ replica: 'a', batch: 3, text: '3' }, NEVER)).rejects.toThrow(LogLost)
      expect(reader.heard.map(({ text }) => text)).toEqual(['lost'])
    })

    it('lets go of everything when it is closed', async () => {
      const { one, other } = await lines(2)
      const follower = new AFollower()
      one.log.follow(undefined, follower)
      await appendAll(other.log, 'b', ['1'])
      await follower.texts(1)
      one.cut()
      await one.watcher.until(isDown)
      const appended = one.log.append({ replica: 'a', batch: 1, text: 'never' }, NEVER)
      const told = one.watcher.told.length
      await Promise.all([one.log.close(), expect(appended).rejects.toThrow(LogUnavailable)])
      one.restore()
      await other.log.append({ replica: 'b', batch: 2, text: '2' }, NEVER)
      await expect(one.log.end()).rejects.toThrow(LogUnavailable)
      expect(follower.heard).toHaveLength(1)
      expect(one.watcher.told).toHaveLength(told)
    })

    it.each([1, 2, 3])(
      'holds through random cuts: acknowledged is there once, for all in the same order (seed %i)',
      async (seed) => {
        const chance = randomStream(`log ${seed}`)
        const { all } = await lines(3)
        const followers = all.map(({ log }) => {
          const follower = new AFollower()
          log.follow(undefined, follower)
          return follower
        })
        const acknowledged: string[] = []
        let isOver = false
        const writers = all.map(async ({ log }, replica) => {
          const underWay = new Set<Promise<void>>()
          for (let batch = 1; batch <= 60; batch++) {
            const text = `${replica}:${batch};`
            const patience = new AbortController()
            const isImpatient = chance.next() < 0.3
            const appended = log
              .append({ replica: `r${replica}`, batch, text }, patience.signal)
              .then(
                () => void acknowledged.push(text),
                (error) => expect(error).toBeInstanceOf(LogUnavailable),
              )
              .finally(() => underWay.delete(appended))
            underWay.add(appended)
            if (isImpatient) setImmediate(() => patience.abort())
            if (underWay.size === 5) await Promise.race(underWay)
          }
          await Promise.all(underWay)
        })
        const vandal = async () => {
          for (let next = 0; !isOver; next++) {
            const line = all[next % all.length] as TriedLine
            line.cut()
            await line.watcher.until(isDown)
            line.restore()
            await line.watcher.until(isUp)
          }
        }
        const mischief = vandal()
        await Promise.all(writers)
        isOver = true
        await mischief
        const last = await Promise.all(
          all.map(({ log }, replica) =>
            log.append({ replica: `r${replica}`, batch: 61, text: `end ${replica}` }, NEVER),
          ),
        )
        await Promise.all(followers.map((follower) => untilHas(follower, last)))
        const [heard = [], ...others] = followers.map((follower) => follower.heard.map(({ text }) => text))
        for (const other of others) expect(other).toEqual(heard)
        expect(new Set(heard).size).toBe(heard.length)
        expect(acknowledged.filter((text) => !heard.includes(text))).toEqual([])
        for (const replica of all.keys()) {
          const batches = heard.flatMap((text) =>
            text.startsWith(`${replica}:`) ? [Number.parseInt(text.slice(2), 10)] : [],
          )
          expect(batches).toEqual(batches.toSorted((a, b) => a - b))
        }
      },
    )
  })
}

async function appendAll(log: CommandLog, replica: string, texts: readonly string[]): Promise<readonly EntryId[]> {
  const ids: EntryId[] = []
  for (const [index, text] of texts.entries()) ids.push(await log.append({ replica, batch: index + 1, text }, NEVER))
  return ids
}

/** Resolves once a follower has heard all of these entries. */
async function untilHas(follower: AFollower, ids: readonly EntryId[]): Promise<void> {
  while (!ids.every((id) => follower.heard.some((entry) => entry.id === id))) {
    await follower.texts(follower.heard.length + 1)
  }
}

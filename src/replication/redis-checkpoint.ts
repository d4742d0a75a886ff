import { promisify } from 'node:util'
import { deflateRaw, inflateRaw } from 'node:zlib'
import { DAY_MS } from '../domain/time.js'
import { type EntryId, LogUnavailable, type StoredCheckpoint } from './command-log.js'
import type { RedisConnection } from './redis.js'
import { KEEP_CHECKPOINT, type RedisKeys, run, WRITE_PIECE } from './redis-scripts.js'

/** Pieces that are on their way at a time. */
const AT_A_TIME = 4
/** What somebody who died has written of a checkpoint is gone after so long. */
const UNFINISHED_FOR_S = 60
/** A replica that has appended nothing for so long is not there any more; if it is, it starts anew. */
const REMEMBERED_FOR_MS = DAY_MS
/** One that is replaced while it is read is read again, so often. */
const ATTEMPTS = 10

const compress = promisify(deflateRaw)
const expand = promisify(inflateRaw)

/** Writes a checkpoint beside the former one, then puts it in its place. */
export async function writeCheckpoint(
  redis: RedisConnection,
  keys: RedisKeys,
  { id, pieces }: StoredCheckpoint,
  trimUpTo: EntryId,
): Promise<void> {
  const writing = `${keys.checkpoint}-${await redis.call('INCR', keys.writings)}`
  let count = 0
  await aFewAtATime(pieces, async (piece) => {
    const place = count++
    // Fast rather than small: it is written often, and read seldom.
    const bytes = await compress(piece, { level: 1 })
    await run(redis, WRITE_PIECE, writing, UNFINISHED_FOR_S, place, bytes)
  })
  const forgotten = Number.parseInt(id, 10) - REMEMBERED_FOR_MS
  const { checkpoint, log, batches } = keys
  await run(redis, KEEP_CHECKPOINT, checkpoint, writing, log, batches, id, count, trimUpTo, forgotten)
}

/** Reads the newest checkpoint. @throws LogUnavailable if it is not whole */
export async function readCheckpoint(redis: RedisConnection, key: string): Promise<StoredCheckpoint | undefined> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const [id, count] = await fields(redis, key, 'id', 'pieces')
    if (id === undefined) return undefined
    const pieces: string[] = []
    let isSame = true
    await aFewAtATime(Array(Number(count)).keys(), async (place) => {
      const [stillId, bytes] = isSame ? await fields(redis, key, 'id', String(place)) : []
      isSame &&= bytes !== undefined && stillId?.equals(id) === true
      if (isSame && bytes !== undefined) pieces[place] = (await expand(bytes)).toString()
    })
    if (isSame) return { id: id.toString(), pieces }
  }
  throw new LogUnavailable('The checkpoint in Redis is not whole.')
}

async function fields(redis: RedisConnection, key: string, ...names: readonly string[]) {
  const values = await redis.callForBytes('HMGET', key, ...names)
  return (Array.isArray(values) ? values : []).map((value) => (Buffer.isBuffer(value) ? value : undefined))
}

/** Does something with each of what there is, for a few at a time: the next is asked for when one is done. */
async function aFewAtATime<T>(all: Iterable<T>, work: (one: T) => Promise<void>): Promise<void> {
  const rest = all[Symbol.iterator]()
  const worker = async () => {
    for (let next = rest.next(); next.done !== true; next = rest.next()) await work(next.value)
  }
  await Promise.all(Array.from({ length: AT_A_TIME }, worker))
}

import { promisify } from 'node:util'
import { deflateRaw, inflateRaw } from 'node:zlib'
import { DAY_MS } from '../domain/time.js'
import { type EntryId, LogUnavailable, type StoredCheckpoint } from './command-log.js'
import { NotRedis, type RedisConnection } from './redis.js'
import { KEEP_CHECKPOINT, type RedisKeys, runScript, WRITE_PIECE } from './redis-scripts.js'

const CONCURRENCY = 4
const UNFINISHED_TTL_S = 60
/** Time to live of the batches of an idle replica. */
const BATCHES_TTL_MS = DAY_MS
/** A checkpoint may be replaced while it is read. */
const MAX_ATTEMPTS = 10

const compress = promisify(deflateRaw)
const expand = promisify(inflateRaw)

export async function writeCheckpoint(
  redis: RedisConnection,
  keys: RedisKeys,
  { id, pieces }: StoredCheckpoint,
  trimUpTo: EntryId,
): Promise<void> {
  const writing = `${keys.checkpoint}-${await redis.call('INCR', keys.writings)}`
  let count = 0
  await forEachConcurrently(pieces, async (piece) => {
    const index = count++
    // Fast compression: a checkpoint is written often and rarely read.
    const bytes = await compress(piece, { level: 1 })
    await runScript(redis, WRITE_PIECE, writing, UNFINISHED_TTL_S, index, bytes)
  })
  const forgottenBefore = Number.parseInt(id, 10) - BATCHES_TTL_MS
  const { checkpoint, log, batches } = keys
  await runScript(redis, KEEP_CHECKPOINT, checkpoint, writing, log, batches, id, count, trimUpTo, forgottenBefore)
}

export async function readCheckpoint(redis: RedisConnection, key: string): Promise<StoredCheckpoint | undefined> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const [id, count] = await fields(redis, key, 'id', 'pieces')
    if (id === undefined) return undefined
    const pieces: string[] = []
    let isSame = true
    await forEachConcurrently(Array(Number(count)).keys(), async (index) => {
      const [stillId, bytes] = isSame ? await fields(redis, key, 'id', String(index)) : []
      isSame &&= bytes !== undefined && stillId?.equals(id) === true
      if (isSame && bytes !== undefined) pieces[index] = (await expand(bytes)).toString()
    })
    if (isSame) return { id: id.toString(), pieces }
  }
  throw new LogUnavailable('The checkpoint in Redis is incomplete.')
}

async function fields(redis: RedisConnection, key: string, ...names: readonly string[]) {
  const values = await redis.callForBytes('HMGET', key, ...names)
  if (!Array.isArray(values)) throw new NotRedis()
  return values.map((value) => (Buffer.isBuffer(value) ? value : undefined))
}

async function forEachConcurrently<T>(items: Iterable<T>, work: (item: T) => Promise<void>): Promise<void> {
  const rest = items[Symbol.iterator]()
  const worker = async () => {
    for (let next = rest.next(); next.done !== true; next = rest.next()) await work(next.value)
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, worker))
}

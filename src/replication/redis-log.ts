import { promisify } from 'node:util'
import { deflate, inflate } from 'node:zlib'
import type { RedisAddress } from '../domain/redis-address.js'
import { DAY_MS, SECOND_MS } from '../domain/time.js'
import {
  type Checkpoint,
  type CommandLog,
  type Entry,
  type LogEnd,
  LogLost,
  type NewEntry,
  type Place,
} from './command-log.js'
import { type Connections, LOST, RedisLink } from './redis.js'

export interface RedisLogOptions {
  readonly address: RedisAddress
  readonly group: string
  readonly warn: (text: string) => void
}

const MAX_ENTRIES_PER_READ = 64
/** How long Redis waits for an entry. An empty response shows that it is alive. */
const BLOCK_MS = SECOND_MS
/** Time to live of the last batch of a replica that is gone. */
const BATCH_TTL_S = DAY_MS / SECOND_MS

/** @throws LogUnavailable if Redis cannot be reached or used */
export async function openRedisLog(options: RedisLogOptions): Promise<CommandLog> {
  const log = new RedisLog(options)
  await log.open()
  return log
}

/**
 * A log in a Redis stream. The scripts are the only ones that append to it, and remember the last entry (`end`): whatever
 * follows it in the stream is foreign.
 */
class RedisLog implements CommandLog {
  readonly #group: string
  readonly #warn: RedisLogOptions['warn']
  readonly #keys: readonly [log: string, end: string, checkpoint: string]
  readonly #link: RedisLink

  constructor({ address, group, warn }: RedisLogOptions) {
    this.#group = group
    this.#warn = warn
    this.#keys = [this.#key('log'), this.#key('end'), this.#key('checkpoint')]
    this.#link = new RedisLink(address, this.#key('probe'), warn)
  }

  get unavailable(): string | undefined {
    return this.#link.reason
  }

  open(): Promise<void> {
    return this.#link.open()
  }

  /** The common hash tag keeps the keys of a group on one node of a cluster. */
  #key(name: string): string {
    return `petstore-sandbox:{${this.#group}}:${name}`
  }

  async append({ replica, batch, text }: NewEntry, stored: number, signal: AbortSignal): Promise<void> {
    const keys = [...this.#keys, this.#key(`batch:${replica}`)]
    await this.#link.useUntilDone(({ commands }) => run(commands, APPEND, keys, replica, batch, stored, text), signal)
  }

  async read(after: Place): Promise<readonly Entry[]> {
    const { number, replica, batch } = after
    const entries = await this.#link.useUntilDone(async ({ reading }) => {
      const found = entriesIn(await run(reading, READ, this.#keys, number, replica, batch))
      if (found.length > 0) return found
      const [stream] = this.#keys
      await reading.call('XREAD', 'COUNT', 1, 'BLOCK', BLOCK_MS, 'STREAMS', stream, `${number}-0`)
      return entriesIn(await run(reading, READ, this.#keys, number, replica, batch))
    })
    if (entries.length > 0 && entries[0]?.number !== number + 1)
      throw new LogLost(`the entries after ${number} are missing`)
    return entries
  }

  async end(): Promise<LogEnd> {
    const response = await this.#link.use(async ({ commands }) => listOf(await run(commands, END, this.#keys)))
    const [number, writtenAt, now, hasCheckpoint] = response.map(Number)
    return { number: number ?? 0, writtenAt: writtenAt ?? 0, now: now ?? 0, hasCheckpoint: hasCheckpoint === 1 }
  }

  async loadCheckpoint(): Promise<Checkpoint | undefined> {
    const [number, replica, batch, bytes] = await this.#link.use(async ({ commands }) =>
      listOf(await commands.callBuffer('EVAL', LOAD, this.#keys.length, ...this.#keys)),
    )
    if (!Buffer.isBuffer(bytes)) return undefined
    try {
      const text = String(await expand(bytes))
      return { place: { number: Number(number), replica: String(replica), batch: Number(batch) }, text }
    } catch {
      this.#warn('Removed the checkpoint of the group from Redis, because it is damaged.')
      await this.#link.use(({ commands }) => commands.call('DEL', this.#key('checkpoint')))
      return undefined
    }
  }

  async saveCheckpoint({ place, text }: Checkpoint, keepFrom: number): Promise<void> {
    const { number, replica, batch } = place
    // Fast compression: a checkpoint is written often and rarely read.
    const bytes = await compress(text, { level: 1 })
    await this.#link.use(({ commands }) => run(commands, KEEP, this.#keys, number, replica, batch, bytes, keepFrom))
  }

  async clear(): Promise<void> {
    await this.#link.use(({ commands }) => commands.call('DEL', ...this.#keys))
  }

  async close(): Promise<void> {
    this.#link.close()
  }
}

const compress = promisify(deflate)
const expand = promisify(inflate)

/** @param script without a digest: Redis keeps compiled scripts, and a kilobyte more is cheap */
function run(
  redis: Connections['commands'],
  script: string,
  keys: readonly string[],
  ...args: readonly (string | number | Buffer)[]
) {
  return redis.call('EVAL', script, keys.length, ...keys, ...args)
}

function entriesIn(response: unknown): readonly Entry[] {
  return listOf(response).map((item) => {
    const [id, fields] = listOf(item)
    const [, replica = '', , batch, , now, , text = ''] = listOf(fields).map(String)
    return { number: Number.parseInt(String(id), 10), replica, batch: Number(batch), now: Number(now), text }
  })
}

/** @throws for a response that Redis does not send */
function listOf(response: unknown): readonly unknown[] {
  if (!Array.isArray(response)) throw new Error('the response is not from Redis')
  return response
}

/**
 * Begins each script. Removes keys that another program has replaced, and foreign entries. If the end is gone, the stream
 * has it: the last entry before a gap or a foreign one. Without the stream, the log continues from the checkpoint.
 *
 * Keys: stream, end, checkpoint. The id of an entry is `<number>-0`. `end` has the number of the last entry and its time.
 */
const REPAIR = `
local stream, meta, checkpoint = KEYS[1], KEYS[2], KEYS[3]
for key, kind in pairs({[stream] = 'stream', [meta] = 'hash', [checkpoint] = 'hash'}) do
  local found = redis.call('TYPE', key).ok
  if found ~= kind and found ~= 'none' then redis.call('DEL', key) end
end
local function entry(number) return redis.call('XRANGE', stream, number .. '-0', number .. '-0')[1] end
local function add(number, replica, batch, now, text)
  redis.call('XADD', stream, number .. '-0', 'replica', replica, 'batch', batch, 'now', now, 'text', text)
  redis.call('HSET', meta, 'number', number, 'now', now)
end
local function require_entry(number, replica, batch)
  local found = entry(number)
  if not found or found[2][2] ~= replica or found[2][4] ~= batch then
    return redis.error_reply('${LOST} entry ' .. number .. ' is missing')
  end
end
local last = tonumber(redis.call('HGET', meta, 'number') or '') or 0
if last == 0 then
  local now
  repeat
    local found = redis.call('XRANGE', stream, last == 0 and '-' or last .. '-1', '+', 'COUNT', ${MAX_ENTRIES_PER_READ})
    for _, one in ipairs(found) do
      local number, fields = tonumber(string.match(one[1], '^(%d+)-0$') or ''), one[2]
      local follows = number and (last == 0 or number == last + 1)
      if not follows or #fields ~= 8 or fields[1] ~= 'replica' then found = {} break end
      last, now = number, fields[6]
    end
  until #found == 0
  if last > 0 then redis.call('HSET', meta, 'number', last, 'now', now) end
end
if last == 0 or redis.call('XLEN', stream) == 0 then
  redis.call('DEL', stream, meta)
  local number, replica, batch, now = unpack(redis.call('HMGET', checkpoint, 'number', 'replica', 'batch', 'now'))
  last = replica and batch and now and tonumber(number or '') or 0
  if last > 0 then add(last, replica, batch, now, '') else redis.call('DEL', checkpoint) end
end
if #redis.call('XRANGE', stream, last .. '-1', '+', 'COUNT', 1) > 0 then
  -- A new stream: this one would continue after the highest id that it ever had.
  local own = redis.call('XRANGE', stream, '-', last .. '-0')
  redis.call('DEL', stream)
  for _, one in ipairs(own) do redis.call('XADD', stream, one[1], unpack(one[2])) end
end
local function now()
  local time = redis.call('TIME')
  local written = tonumber(redis.call('HGET', meta, 'now') or '0')
  return math.max(tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000), written), written
end
`

/** Keys: also the last batch of the replica. Arguments: replica, batch, last batch known to be stored, text. */
const APPEND = `${REPAIR}
local kept = tonumber(redis.call('GET', KEYS[4]) or '0')
if kept < tonumber(ARGV[3]) then return redis.error_reply('${LOST} it no longer has the entries of this replica') end
if kept < tonumber(ARGV[2]) then
  add(last + 1, ARGV[1], ARGV[2], (now()), ARGV[4])
  redis.call('SET', KEYS[4], ARGV[2], 'EX', ${BATCH_TTL_S})
end
return 'OK'`

/** Arguments: number, replica and batch of the entry before. */
const READ = `${REPAIR}
if ARGV[1] ~= '0' then
  local lost = require_entry(ARGV[1], ARGV[2], ARGV[3])
  if lost then return lost end
end
return redis.call('XRANGE', stream, ARGV[1] .. '-1', '+', 'COUNT', ${MAX_ENTRIES_PER_READ})`

const END = `${REPAIR}
local time, written = now()
return {last, written, time, redis.call('HEXISTS', checkpoint, 'text')}`

const LOAD = `${REPAIR}
return redis.call('HMGET', checkpoint, 'number', 'replica', 'batch', 'text')`

/** Arguments: number, replica, batch, bytes, number of the first entry to keep. */
const KEEP = `${REPAIR}
local lost = require_entry(ARGV[1], ARGV[2], ARGV[3])
if lost then return lost end
local number, stored = tonumber(ARGV[1]), tonumber(redis.call('HGET', checkpoint, 'number') or '') or 0
if stored > number and stored <= last and redis.call('HEXISTS', checkpoint, 'text') == 1 then return 'OLDER' end
local written = entry(ARGV[1])[2][6]
redis.call('DEL', checkpoint)
redis.call('HSET', checkpoint, 'number', number, 'replica', ARGV[2], 'batch', ARGV[3], 'now', written, 'text', ARGV[4])
redis.call('XTRIM', stream, 'MINID', ARGV[5] .. '-0')
return 'OK'`

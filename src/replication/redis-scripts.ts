import { batchText } from './batch-text.js'
import type { RedisArgument, RedisConnection } from './redis.js'

/** The keys of a group in Redis. Their common hash tag keeps them on one node of a cluster. */
export interface RedisKeys {
  readonly log: string
  /** `end`: id of the last entry. `of <replica>`: its last batches, in the format of `OWN`. */
  readonly batches: string
  /** `id`, `pieces` (their number), and each piece by its index. */
  readonly checkpoint: string
  readonly writings: string
  readonly probe: string
}

export function redisKeys(group: string): RedisKeys {
  const key = (name: string) => `petstore-sandbox:{${group}}:${name}`
  return {
    log: key('log'),
    batches: key('batches'),
    checkpoint: key('checkpoint'),
    writings: key('writings'),
    probe: key('probe'),
  }
}

interface Script {
  readonly keys: number
  readonly text: string
}

const LOST = 'LOST '

/** Lua's numbers are exact for both parts of `<milliseconds>-<ordinal>`. */
const IS_AFTER = `
local function is_after(one, other)
  local ms, ordinal = string.match(one, '^(%d+)-(%d+)$')
  local other_ms, other_ordinal = string.match(other, '^(%d+)-(%d+)$')
  if ms ~= other_ms then return tonumber(ms) > tonumber(other_ms) end
  return tonumber(ordinal) > tonumber(other_ordinal)
end`

/**
 * Parses the batches of a replica: the last one, and the ids of batches with responses that the replica may not have
 * received. Format: `<batch>:<id>`, the last one first; without an id if abandoned.
 */
const OWN = `
local function own_batches(written)
  local kept, ids = 0, {}
  for batch, id in string.gmatch(written or '', '(%d+):(%S*)') do
    batch = tonumber(batch)
    kept = math.max(kept, batch)
    ids[batch] = id
  end
  return kept, ids
end`

/**
 * Appends an entry if all earlier batches of its replica are stored. Returns the id of an entry that is already stored.
 *
 * Keys: log, batches. Arguments: replica, batch, the last batch known to be stored, the batch before it, text. Returns
 * the id.
 */
export const APPEND: Script = {
  keys: 2,
  text: `${OWN}
local of, batch, known, before = 'of ' .. ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local own, last = unpack(redis.call('HMGET', KEYS[2], of, 'end'))
local kept, ids = own_batches(own)
if kept < known then return redis.error_reply('${LOST}it no longer has the entries of this replica') end
if (redis.call('XLEN', KEYS[1]) > 0) ~= (last and true or false) then
  return redis.error_reply('${LOST}one of its keys was removed')
end
if (ids[batch] or '') ~= '' then return ids[batch] end
if kept >= batch then return redis.error_reply('${LOST}batch ' .. batch .. ' was abandoned') end
if kept < before then return redis.error_reply('WAITS for batch ' .. before) end
local id = redis.call('XADD', KEYS[1], '*', 'replica', ARGV[1], 'batch', batch, 'after', last or '', 'text', ARGV[5])
local written = batch .. ':' .. id
for other = kept, known + 1, -1 do
  if ids[other] then written = written .. ' ' .. other .. ':' .. ids[other] end
end
redis.call('HSET', KEYS[2], of, written, 'end', id)
return id`,
}

/**
 * Returns the end of the log, and from now on refuses abandoned batches.
 *
 * Keys: log, batches. Arguments: alternating replicas and their last abandoned batch. Returns the id, or '', and
 * milliseconds since 1970.
 */
export const END: Script = {
  keys: 2,
  text: `${OWN}
for i = 1, #ARGV, 2 do
  local of = 'of ' .. ARGV[i]
  local own = redis.call('HGET', KEYS[2], of)
  local kept = own_batches(own)
  if kept < tonumber(ARGV[i + 1]) then redis.call('HSET', KEYS[2], of, ARGV[i + 1] .. ': ' .. (own or '')) end
end
local id = redis.call('HGET', KEYS[2], 'end') or ''
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
return {id, math.max(now, tonumber(string.match(id, '^%d+') or '0'))}`,
}

/** Checks that an entry is unchanged. Keys: log. Arguments: its id; its replica and batch if known, else ''. */
export const CHECK_ENTRY: Script = {
  keys: 1,
  text: `
local found = redis.call('XRANGE', KEYS[1], ARGV[1], ARGV[1])[1]
if not found then return redis.error_reply('${LOST}the entry read last is missing') end
if ARGV[2] ~= '' and (found[2][2] ~= ARGV[2] or found[2][4] ~= ARGV[3]) then
  return redis.error_reply('${LOST}the entry read last was replaced')
end
return 'OK'`,
}

/** Keys: the new checkpoint. Arguments: time to live in seconds, index, bytes. */
export const WRITE_PIECE: Script = {
  keys: 1,
  text: `
redis.call('HSET', KEYS[1], ARGV[2], ARGV[3])
return redis.call('EXPIRE', KEYS[1], ARGV[1])`,
}

/**
 * Replaces the checkpoint by a complete new one, and trims the log.
 *
 * Keys: checkpoint, new checkpoint, log, batches. Arguments: id, number of pieces, first entry to keep, time before
 * which the batches of replicas are removed.
 */
export const KEEP_CHECKPOINT: Script = {
  keys: 4,
  text: `${IS_AFTER}
local id, pieces, first, forgotten = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])
local kept = redis.call('HGET', KEYS[1], 'id')
if kept and not is_after(id, kept) then
  redis.call('UNLINK', KEYS[2])
  return 'OLDER'
end
if #redis.call('XRANGE', KEYS[3], id, id) == 0 then
  redis.call('UNLINK', KEYS[2])
  return redis.error_reply('${LOST}the entry of the checkpoint is missing')
end
if redis.call('HLEN', KEYS[2]) ~= tonumber(pieces) then return redis.error_reply('ERR writing the checkpoint took too long') end
redis.call('HSET', KEYS[2], 'id', id, 'pieces', pieces)
redis.call('PERSIST', KEYS[2])
redis.call('RENAME', KEYS[2], KEYS[1])
if is_after(first, id) then first = id end
redis.call('XTRIM', KEYS[3], 'MINID', first)
local batches = redis.call('HGETALL', KEYS[4])
for i = 1, #batches, 2 do
  local last = tonumber(string.match(batches[i + 1], ':(%d+)-') or '')
  if batches[i] ~= 'end' and last and last < forgotten then redis.call('HDEL', KEYS[4], batches[i]) end
end
return 'OK'`,
}

/**
 * Repairs a log after a key was removed manually. Without entries, the log continues from the newest checkpoint, after
 * an empty entry in its place; without its end, from its last entry. Replicas that had read more entries rejoin.
 *
 * Keys: log, batches, checkpoint. Returns the missing part, or ''.
 */
export const REPAIR: Script = {
  keys: 3,
  text: `
local length, last = redis.call('XLEN', KEYS[1]), redis.call('HGET', KEYS[2], 'end')
if length == 0 and last then
  redis.call('DEL', KEYS[2])
  local id = redis.call('HGET', KEYS[3], 'id')
  if id then
    redis.call('XADD', KEYS[1], id, 'replica', '', 'batch', 0, 'after', '', 'text', '${batchText([])}')
    redis.call('HSET', KEYS[2], 'end', id)
  end
  return 'entries'
end
if length > 0 and not last then
  redis.call('HSET', KEYS[2], 'end', redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1][1])
  return 'batches'
end
return ''`,
}

/** Clears a group. Keeps the empty stream, so that ids never go back. Keys: log, batches, checkpoint. */
export const CLEAR: Script = {
  keys: 3,
  text: `
redis.call('XTRIM', KEYS[1], 'MAXLEN', 0)
redis.call('UNLINK', KEYS[2], KEYS[3])
return 'OK'`,
}

export function lostReason(error: unknown): string | undefined {
  return error instanceof Error && error.message.startsWith(LOST) ? error.message.slice(LOST.length) : undefined
}

const digests = new WeakMap<Script, string>()

/** Loads a script before its first run, so that concurrent runs keep their order. */
export async function loadScript(redis: RedisConnection, script: Script): Promise<void> {
  digests.set(script, String(await redis.call('SCRIPT', 'LOAD', script.text)))
}

export async function runScript(
  redis: RedisConnection,
  script: Script,
  ...args: readonly RedisArgument[]
): Promise<unknown> {
  const digest = digests.get(script)
  if (digest === undefined) {
    await loadScript(redis, script)
    return runScript(redis, script, ...args)
  }
  try {
    return await redis.call('EVALSHA', digest, script.keys, ...args)
  } catch (error) {
    if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error
    return redis.call('EVAL', script.text, script.keys, ...args)
  }
}

import { messageOf } from '../system/message-of.js'

/** What Redis says, by the first word of its error: what it means here, and what to do. */
const REFUSALS: Readonly<Record<string, string>> = {
  OOM: 'its memory is used up (maxmemory): give it more, or let the sandbox start anew with --reset',
  READONLY: 'it is a read-only copy of another Redis: give the address of that one',
  LOADING: 'it is still reading its data from disk',
  MISCONF: 'it takes nothing because it cannot write to its disk: its own log says why',
  NOREPLICAS: 'it takes nothing because too few copies follow it (min-replicas-to-write)',
  MASTERDOWN: 'it is a copy that has lost the Redis it follows',
  NOAUTH: 'it asks for a password, and the address has none',
  WRONGPASS: 'it does not know this user with this password',
  NOPERM: 'it does not allow its user all that is needed: the keys petstore-sandbox:*, and streams, hashes and scripts',
  MOVED: 'it is part of a cluster, and another of its nodes keeps this group: give the address of that one',
  CLUSTERDOWN: 'it is part of a cluster that is down',
  BUSY: 'it is busy with a script',
  WAITS: 'it lacks something that was sent before, which is sent again',
  UNBLOCKED: 'it has just become a copy of another Redis',
  WRONGTYPE: 'something else uses the keys of this group: choose another with --group',
}

/** What the network says, by code. */
const CUTS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nobody listens there',
  ENOENT: 'there is no such socket',
  EACCES: 'this user may not use the socket',
  ENOTFOUND: 'no such host is known',
  EAI_AGAIN: 'the name of its host cannot be looked up now',
  ETIMEDOUT:
    'it cannot be reached: no connection within 3 s. With rediss:// that may also mean that it does not speak TLS',
  EHOSTUNREACH: 'no way leads to its host',
  ENETUNREACH: 'no way leads to its network',
  ECONNRESET: 'the connection was cut',
  EPIPE: 'the connection was cut',
  EPROTO: 'it does not speak TLS: perhaps redis:// is meant',
  ERR_SSL_WRONG_VERSION_NUMBER: 'it does not speak TLS: perhaps redis:// is meant',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another name',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  DEPTH_ZERO_SELF_SIGNED_CERT:
    'its certificate is signed by nobody known: NODE_EXTRA_CA_CERTS names a file of who signed it',
  SELF_SIGNED_CERT_IN_CHAIN:
    'its certificate is signed by nobody known: NODE_EXTRA_CA_CERTS names a file of who signed it',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    'its certificate is signed by nobody known: NODE_EXTRA_CA_CERTS names a file of who signed it',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    'its certificate is signed by nobody known: NODE_EXTRA_CA_CERTS names a file of who signed it',
}

const TOO_OLD = 'it is too old: Redis 7 or newer, or Valkey 7.2 or newer, is needed'
/** What old ones say to what they do not know yet. */
const OLD = /unknown command|wrong number of arguments for 'auth'|unknown subcommand|Unknown Redis command/i

/**
 * Why Redis cannot be used, for people.
 *
 * An error of the client library has the words of its command, which may be a password:
 * nothing but this text may leave the log.
 *
 * @param error what the network, Redis, or RedisConnection said
 */
export function redisWords(error: unknown): string {
  const message = messageOf(error)
  const code = error instanceof Error && 'code' in error ? CUTS[String(error.code)] : undefined
  if (code !== undefined) return code
  const refusal = REFUSALS[/^-?([A-Z]+)\b/.exec(message)?.[1] ?? '']
  if (refusal !== undefined) return refusal
  if (OLD.test(message)) return TOO_OLD
  if (/^Protocol error|^Unknown RESP type/i.test(message))
    return 'who answers there is no Redis, or one that speaks TLS: perhaps rediss:// is meant'
  if (/DB index is out of range|invalid DB index/i.test(message)) return 'it has no database of that number'
  if (/max number of clients/i.test(message)) return 'it takes no more clients (maxclients)'
  if (/Connection is closed/i.test(message)) return 'the connection was cut'
  return message
}

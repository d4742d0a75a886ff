import { shellCommand } from './curl.js'
import type { FailureCode } from './failures.js'
import { ALWAYS_REFUSED } from './keys.js'
import type { ProblemCode, Reason } from './problems.js'
import { ceilSeconds, type DurationMs, formatDuration, SECOND_MS } from './time.js'

// What to do about every error: for the log, `call`, the dashboard, JSON errors and docs/errors.md.

/** A refusal that the sandbox made up. */
export interface Refusal {
  readonly reason: string | null | undefined
  /** Label of the key; undefined for a key that the sandbox may not know, or that may be secret. */
  readonly key?: string | undefined
  readonly isAlwaysRefused?: boolean
  /** Until the client may retry. */
  readonly wait?: DurationMs | undefined
}

/** Ways to end a refusal, with the text of a button, and the verb in the words of `control`. */
const ACTIONS = {
  'advance-clock': {
    label: 'Move the clock to its end',
    command: ({ wait }: Refusal) =>
      wait === undefined ? undefined : `clock advance ${formatDuration(ceilSeconds(wait) * SECOND_MS)}`,
  },
  'larger-plan': { label: 'Put the key on a larger plan' },
  'lift-ban': {
    label: 'Lift the ban',
    command: ({ key }: Refusal) => (key === undefined ? undefined : shellCommand('unban', key)),
  },
  'stop-storm': { label: 'Stop the storm', command: () => 'storm stop' },
  'remove-fault': { label: 'Remove this rule', command: () => 'fault clear' },
  'restore-operation': { label: 'Restore the operation', command: () => 'sunset before' },
  'end-brownout': { label: 'End the brownout', command: () => 'sunset auto' },
} as const satisfies Readonly<Record<string, ActionRow>>

interface ActionRow {
  readonly label: string
  readonly command?: (refusal: Refusal) => string | undefined
}

export type FixAction = keyof typeof ACTIONS

export const REASON_FIXES: Readonly<Record<Reason, { readonly fix: string; readonly actions?: readonly FixAction[] }>> =
  {
    'quota-minute': {
      fix: 'Wait for `Retry-After`, move the clock by a minute, or choose a larger plan or limits.',
      actions: ['advance-clock', 'larger-plan'],
    },
    'quota-day': {
      fix: 'Wait for `Retry-After`, move the clock by a day, or choose a larger plan or limits.',
      actions: ['advance-clock', 'larger-plan'],
    },
    ban: {
      fix: 'Wait, lift the ban, or move the clock. A client that waits for `Retry-After` is never banned.',
      actions: ['lift-ban', 'advance-clock'],
    },
    storm: {
      fix: 'Wait for `Retry-After` and retry with growing delays, or stop the storm.',
      actions: ['stop-storm'],
    },
    forced: { fix: 'Remove the header `Prefer`. It had no other effect.' },
    fault: { fix: 'Remove the rule, or retry if the operation is idempotent.', actions: ['remove-fault'] },
    sunset: {
      fix: 'Use the replacement in the message, or set `sunset` to `before`.',
      actions: ['restore-operation'],
    },
    brownout: {
      fix: 'Use the replacement in the message, move the clock, or set `sunset` to `auto`.',
      actions: ['end-brownout'],
    },
    unavailable: { fix: 'Retry later. `GET /health` explains the problem.' },
    upstream: { fix: 'Read the message: it has the cause, or the option that allows the request.' },
    mock: {
      fix: 'Describe the operation as one of a resource, and the sandbox keeps its records. The docs page says what is missing.',
    },
  }

interface Fix {
  readonly fix: string
  readonly actions: readonly { readonly action: FixAction; readonly label: string }[]
  /** The smallest change that ends the refusal, in the words of `control`. */
  readonly command: string | undefined
  /** The key is refused for ever. */
  readonly isPermanent: boolean
}

/** @returns undefined if the sandbox did not make up the response */
export function fixRefusal(refusal: Refusal): Fix | undefined {
  const { reason, key = '', isAlwaysRefused = ALWAYS_REFUSED.includes(key) } = refusal
  if (!Object.hasOwn(REASON_FIXES, reason ?? '')) return undefined
  if (isAlwaysRefused && reason !== 'forced')
    return {
      fix: 'Use another key. The sandbox always refuses this one.',
      actions: [],
      command: undefined,
      isPermanent: true,
    }
  const { fix, actions = [] } = REASON_FIXES[reason as Reason]
  const rows = actions.map((action): ActionRow & { readonly action: FixAction } => ({ action, ...ACTIONS[action] }))
  const [command] = rows.flatMap((row) => row.command?.(refusal) ?? [])
  return { fix, actions: rows, command, isPermanent: false }
}

/** Of errors of the service and the control plane, in Markdown. */
export const PROBLEM_FIXES: Readonly<Record<ProblemCode, { readonly cause: string; readonly fix: string }>> = {
  invalid_request: {
    cause: 'A parameter, the body or the input of a control verb breaks the contract.',
    fix: 'Fix every violation that the message lists, and send the request again.',
  },
  missing_api_key: {
    cause: 'The request has no `Authorization` header, or its scheme is not Bearer.',
    fix: 'Send `Authorization: Bearer <API_KEY>`. The key `sandbox` always works.',
  },
  invalid_api_key: {
    cause:
      'The sandbox does not know the key, or it is `sandbox-revoked`. In front of a real service: the sandbox has no key for that service.',
    fix: 'Use a fixture key, or add yours with `--api-key` or `control keys add`. For a real service, set `--upstream-api-key-file`.',
  },
  not_found: {
    cause: 'The path, pet, key, snapshot or space does not exist. Removing one from the sandbox succeeds.',
    fix: 'Check the name or id. A path starts with the base path, `/v1`.',
  },
  operation_removed: {
    cause: 'The operation is past its removal date, or `--sunset` removes it.',
    fix: 'Use `GET /pets?status=…` instead. To restore the operation, use `--sunset before` or `control clock reset`.',
  },
  method_not_allowed: {
    cause: 'The path exists, but not with this method.',
    fix: 'Use a method in the `Allow` header.',
  },
  unsupported_media_type: {
    cause: 'The Content-Type is not JSON, or the body has a Content-Encoding.',
    fix: 'Send `Content-Type: application/json`, uncompressed.',
  },
  payload_too_large: {
    cause: 'The body is larger than 1 MiB, or 256 kB for the control plane.',
    fix: 'Send a smaller body.',
  },
  rate_limit_exceeded: {
    cause:
      'The quota of the minute or the day is used up, or a storm, a fault or `Prefer` caused this 429. `X-Sandbox-Reason` names the cause.',
    fix: 'Wait for the time in `Retry-After`. In a test, use `control clock advance`, a larger `--plan` or `--no-rate-limit`.',
  },
  api_key_banned: {
    cause: 'The key sent too many requests before `Retry-After` had passed, or a control verb banned it.',
    fix: 'Wait for the ban to end, or lift it with `control unban`. Then fix the client: `control conduct` lists its violations.',
  },
  simulated_fault: {
    cause: 'A rule of `--fault`, or `Prefer`, requested this failure.',
    fix: 'Handle it as you would the real failure. `control fault clear` removes all rules.',
  },
  internal_error: {
    cause: 'The store could not be written, or `--strict` found a response that breaks the contract.',
    fix: 'Read the log on stderr. Free disk space or fix permissions; the sandbox continues to run.',
  },
  overloaded: {
    cause: 'The request bodies in progress on all connections use more than 64 MiB together.',
    fix: 'Retry, with fewer large bodies at once.',
  },
  store_full: {
    cause: 'The store, or the memory of the spaces, has reached `--max-store`.',
    fix: 'Remove pets with `control pets remove`, use `control reset`, or raise `--max-store`.',
  },
  log_unavailable: {
    cause: 'This is a replica, and it cannot reach the Redis with the shared log.',
    fix: 'Wait for the time in `Retry-After` and retry. The request may have been carried out. `GET /health` and the log explain the problem.',
  },
  upstream_read_only: {
    cause: 'In front of a real service: the request is not GET, HEAD or OPTIONS.',
    fix: 'To forward writes, start with `--upstream-writes forward`.',
  },
  origin_refused: {
    cause:
      'In front of a real service: the request may come from a website, by its `Origin`, `Sec-Fetch-Site` or `Host`.',
    fix: 'Use a loopback address, or allow the origin with `--cors`.',
  },
  upstream_unreachable: {
    cause: 'The real service cannot be reached, or it dropped the connection.',
    fix: 'Check the address (`--upstream`), the network and the proxy; the message has the cause. For your own certificate authority, set `NODE_EXTRA_CA_CERTS`.',
  },
  upstream_invalid: {
    cause: 'The real service sent invalid HTTP or more than 16 MiB, or its address is the sandbox itself.',
    fix: 'Send the request to the address directly, with curl. The message has the cause.',
  },
  upstream_busy: {
    cause: '64 requests to the real service are open, and 1,000 more are waiting.',
    fix: 'Send fewer requests at once.',
  },
  upstream_timeout: {
    cause: 'The real service took longer than `--upstream-timeout`.',
    fix: 'Retry, or raise the limit.',
  },
  too_many_spaces: {
    cause: 'The request would open more spaces than `--max-spaces` allows.',
    fix: 'Remove a space with `control spaces remove`, or raise the limit.',
  },
  bad_request: {
    cause: 'The request is not valid HTTP/1.1.',
    fix: 'Check the client and any proxy. A common cause is TLS on a plain port.',
  },
  request_timeout: {
    cause: 'The request did not arrive completely in time.',
    fix: 'Send the complete body. Its length must match Content-Length.',
  },
  headers_too_large: {
    cause: "The headers exceed the 16 KiB limit of Node's parser.",
    fix: 'Send smaller headers; cookies are a common cause.',
  },
  forbidden: {
    cause: 'The control plane received a request from another Host or Origin, or without its token.',
    fix: 'Use a loopback address, allow the page with `--control-origin`, or send the token.',
  },
  conflict: {
    cause: 'The current state does not allow this verb, for example because the key already exists.',
    fix: 'Use the verb that the message suggests.',
  },
}

/** Of failures of a command, in Markdown. */
export const FAILURE_FIXES: Readonly<Record<FailureCode, string>> = {
  USAGE:
    'Run the command with `--help`. For `verify`, also check the API key: `verify --api-key-file` or `PETSTORE_API_KEY`.',
  INVALID_OPTIONS:
    'Fix each line: it names the flag, variable or place in the file, the value, and the allowed values.',
  FIXTURES_MISSING:
    'Point `--fixtures` to a folder with `pets.json`, `orders.json` or `keys.json`. `petstore-sandbox init` creates one.',
  FIXTURES_INVALID: 'Fix the place in the file that the message names. Compare it with the files from `init`.',
  SPEC_INVALID: 'Fix the place in the message. Bundle references to other documents first.',
  UNKNOWN_OPERATION:
    'Use an operation that the message lists; `call --list` shows all. For your own operations, use `--spec`.',
  CANNOT_GENERATE:
    'Use a resource that the message lists, or write its records to `<resource>.json` and use `--fixtures`.',
  UNKNOWN_KEY: 'Fix the key under `used` or `ban`, or add it with `--api-key`.',
  LABEL_TAKEN:
    'Use another label in `--api-key label=key:plan`. Labels must differ from fixture keys and other labels.',
  PORT_IN_USE: 'Choose another port with `--port`, or 0 for any free one. `control stop` stops a sandbox of yours.',
  PORT_FORBIDDEN: 'Choose a port above 1023 with `--port`.',
  HOST_UNAVAILABLE: 'Choose another address with `--host`; 127.0.0.1 always works.',
  STORE_LOCKED: 'Stop the process that the message names, choose another file with `--store`, or use `--in-memory`.',
  STORE_CORRUPT:
    'Repair the file that the message names, restore a copy, or choose another file with `--store`. The sandbox changed nothing.',
  STORE_VERSION: 'Use the release that wrote it, or choose another file with `--store`.',
  STORE_UNREADABLE:
    'Check the permissions of the file and its folder. To create a store through a link, pass the target of the link to `--store`.',
  STORE_UNWRITABLE: 'Check the permissions of the folder and the free space, or choose another file with `--store`.',
  STORE_WRITE_FAILED: 'Check the free space. The change is not in the store, and its client received a 500.',
  STORE_CLOSED: 'Start the sandbox again. Stop your clients before you stop it.',
  STORE_LOST: 'Restore the folder from a copy, or the changes are lost. Keep other programs out of the folder.',
  LOG_UNAVAILABLE: 'Fix the cause in the message: no listener, a wrong password, or a Redis older than 7.',
  LOG_VERSION:
    'Use the release that wrote it, choose another `--group`, or start the group with `--reset`, which deletes its data.',
  GROUP_DIFFERS:
    'Start with the same options, fixtures, contract and version; the message names each difference. Or choose another `--group`, or stop all replicas first.',
  INVALID_REQUEST: 'Fix each line, or send the request anyway with `call --no-validate`.',
  INVALID_FLAG: 'Fix each line: it names the flag and the allowed values.',
  CONFIRMATION_NEEDED: 'To confirm, use `call --yes` or `verify --writes --yes`.',
  INVALID_TARGET: 'Fix the flag, variable or file that the message names.',
  UNKNOWN_TARGET: 'List all targets with `target list`, or add one with `target set`.',
  TARGET_NOT_SET: 'Set it: `petstore-sandbox target set <name> --base-url <url>`.',
  INVALID_CONFIG: 'Fix the line that the message names.',
  CANNOT_WRITE: 'Check the path, its permissions and the free space.',
  NO_RESPONSE:
    'Start a sandbox with `petstore-sandbox serve`, or check the address, the network, the certificate and `call --timeout`.',
  NOT_CHECKED: 'Read the report: it has the reason for each operation.',
  NO_SANDBOX:
    'Start one with `petstore-sandbox serve`, or pass its address with `control --url` or `PETSTORE_SANDBOX_URL`.',
  STILL_RUNNING: 'Kill the process with SIGKILL. This loses no acknowledged pet.',
  NOT_EXECUTABLE: 'Check that the file is executable on this machine.',
  NO_SUCH_COMMAND: 'Check the spelling and `PATH`, and put flags of `exec` before the command.',
  INTERNAL: 'Run the command with `--debug`, and report the output.',
}

/** @param code of a failure or a problem, in any case */
export function fixOfCode(code: string): string | undefined {
  const [failure, problem] = [code.toUpperCase(), code.toLowerCase()]
  if (Object.hasOwn(FAILURE_FIXES, failure)) return FAILURE_FIXES[failure as FailureCode]
  return Object.hasOwn(PROBLEM_FIXES, problem) ? PROBLEM_FIXES[problem as ProblemCode].fix : undefined
}

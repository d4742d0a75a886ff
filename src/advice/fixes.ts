import type { FailureCode } from '../domain/failures.js'
import { ALWAYS_REFUSED } from '../domain/keys.js'
import type { ProblemCode, Reason } from '../domain/problems.js'
import { ceilSeconds, type DurationMs, formatDuration, SECOND_MS } from '../domain/time.js'
import { shellCommand } from './curl.js'

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
      fix: 'Wait, move the clock by a minute, or choose a larger plan.',
      actions: ['advance-clock', 'larger-plan'],
    },
    'quota-day': {
      fix: 'Wait, move the clock by a day, or choose a larger plan.',
      actions: ['advance-clock', 'larger-plan'],
    },
    ban: {
      fix: 'Wait, lift the ban, or move the clock.',
      actions: ['lift-ban', 'advance-clock'],
    },
    storm: {
      fix: 'Wait and retry with growing delays, or stop the storm.',
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
    upstream: { fix: 'The message has the cause, or the option that allows the request.' },
    mock: {
      fix: 'The docs page says what the operation lacks to keep records.',
    },
    replay: { fix: 'Send a new `Idempotency-Key` to act again.' },
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
    fix: 'Fix every violation that the message lists.',
  },
  missing_api_key: {
    cause: 'The request has no `Authorization` header, or its scheme is not Bearer.',
    fix: 'Send the key as the message says. The key `sandbox` always works.',
  },
  invalid_api_key: {
    cause: 'The key is unknown, or `sandbox-revoked`.',
    fix: 'Use the key `sandbox`, or add yours: `control keys add`. For a real service, set `--upstream-api-key-file`.',
  },
  not_found: {
    cause: 'The path, record, key, snapshot or space does not exist.',
    fix: 'Check the name or id. A path starts with the base path, as in the ready line.',
  },
  operation_removed: {
    cause: 'The operation is past its removal date, or `--sunset` removes it.',
    fix: 'Use the replacement in `Link`. To restore the operation, use `--sunset before` or `control clock reset`.',
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
    cause: 'The body is larger than 1 MiB, 10 MiB for an upload, or 256 kB for the control plane.',
    fix: 'Send a smaller body.',
  },
  rate_limit_exceeded: {
    cause: 'The quota is used up, or a storm, a fault or `Prefer` caused this 429: see `X-Sandbox-Reason`.',
    fix: 'Wait for `Retry-After`. In a test, use `control clock advance`, a larger `--plan` or `--no-rate-limit`.',
  },
  api_key_banned: {
    cause: 'The key sent too many early requests, or `control ban` banned it.',
    fix: 'Wait, or lift the ban with `control unban`. `control conduct` lists the violations of the client.',
  },
  simulated_fault: {
    cause: 'A fault rule, or `Prefer`, requested this failure.',
    fix: '`control fault clear` removes all rules.',
  },
  internal_error: {
    cause: 'The store could not be written, a handler failed, or `--strict` found a response that breaks the contract.',
    fix: 'Read the log on stderr. Free disk space or fix permissions.',
  },
  overloaded: {
    cause: 'The request bodies in progress exceed 64 MiB together.',
    fix: 'Send fewer large bodies at once.',
  },
  store_full: {
    cause: 'The store, or the memory of the spaces, has reached `--max-store`.',
    fix: 'Remove records with `control records remove`, use `control reset`, or raise `--max-store`.',
  },
  log_unavailable: {
    cause: 'This replica cannot reach the Redis with the shared log.',
    fix: 'Retry later; the request may have been carried out. `GET /health` has the cause.',
  },
  upstream_read_only: {
    cause: 'A write to a real service.',
    fix: 'To forward writes, use `--upstream-writes forward`.',
  },
  origin_refused: {
    cause: 'The request to a real service may come from a [website](real-service.md#websites).',
    fix: 'Use a loopback address, or allow the origin with `--cors`.',
  },
  upstream_unreachable: {
    cause: 'The real service cannot be reached, or it dropped the connection.',
    fix: 'The message has the cause. Check `--upstream` and the proxy. For your own certificate authority, set `NODE_EXTRA_CA_CERTS`.',
  },
  upstream_invalid: {
    cause: 'The real service sent invalid HTTP or more than 16 MiB, or its address is the sandbox itself.',
    fix: 'The message has the cause. Send the request to the service directly, with curl.',
  },
  upstream_busy: {
    cause: 'Of the requests to the real service, 64 are open and 1,000 more are waiting.',
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
    fix: 'A common cause is TLS on a plain port.',
  },
  request_timeout: {
    cause: 'The request did not arrive completely in time.',
    fix: 'Its body must be as long as its Content-Length.',
  },
  headers_too_large: {
    cause: "The headers exceed the 16 KiB limit of Node's parser.",
    fix: 'Send smaller headers; cookies are a common cause.',
  },
  forbidden: {
    cause: 'A request to the control plane with another Host or Origin, or without its token.',
    fix: 'Use a loopback address, allow the page with `--control-origin`, or send the token.',
  },
  precondition_failed: {
    cause: 'The record no longer has the `ETag` in `If-Match`, or exists despite `If-None-Match`.',
    fix: 'Read the record again, and send its new `ETag`.',
  },
  conflict: {
    cause: 'The current state does not allow this verb: for example, the key already exists.',
    fix: 'Use the verb that the message suggests.',
  },
}

/** Of failures of a command, in Markdown. */
export const FAILURE_FIXES: Readonly<Record<FailureCode, string>> = {
  USAGE:
    'Run the command with `--help`. For `verify`, check the API key: `verify --api-key-file` or `PETSTORE_API_KEY`.',
  INVALID_OPTIONS: 'Fix each line: it has the place, the value, and the allowed values.',
  FIXTURES_MISSING:
    'Point `--fixtures` to a folder with a `<resource>.json` or `keys.json`. `petstore-sandbox init` creates one.',
  FIXTURES_INVALID: 'Fix the place in the message. Compare the file with the one that `init` writes.',
  SPEC_INVALID: 'Fix the place in the message. Bundle references to other documents first.',
  UNKNOWN_OPERATION: 'Use one that `call --list` shows. For your own operations, use `--spec`.',
  CANNOT_GENERATE: 'Use a resource in the message, or write its records to `<resource>.json` and use `--fixtures`.',
  UNKNOWN_KEY: 'Fix the key under `used` or `ban`, or add it with `--api-key`.',
  LABEL_TAKEN: 'Use another label in `--api-key label=key:plan`.',
  PORT_IN_USE: 'Use another `--port`; 0 is any free one. `control stop` stops a sandbox of yours.',
  PORT_FORBIDDEN: 'Use a `--port` above 1023.',
  HOST_UNAVAILABLE: 'Use another `--host`; 127.0.0.1 always works.',
  STORE_LOCKED: 'Stop the process in the message, or use another `--store` or `--in-memory`.',
  STORE_CORRUPT: 'Repair the file in the message, restore a copy, or use another `--store`.',
  STORE_VERSION: 'Use that release, or another `--store`.',
  STORE_UNREADABLE: 'Check the permissions of the file and its folder. For a link, pass its target to `--store`.',
  STORE_UNWRITABLE: 'Check the permissions and the free space, or use another `--store`.',
  STORE_WRITE_FAILED: 'Check the free space. The client received a 500, and the change was not made.',
  STORE_CLOSED: 'Start the sandbox again.',
  STORE_LOST: 'Restore the folder from a copy.',
  LOG_UNAVAILABLE: 'Fix the cause in the message, such as a wrong password or a Redis older than 7.',
  LOG_VERSION: 'Use that release, another `--group`, or `--reset`, which deletes the data of the group.',
  GROUP_DIFFERS: 'Remove the differences in the message, use another `--group`, or stop all replicas first.',
  INVALID_REQUEST: 'Fix each line, or send it anyway with `call --no-validate`.',
  INVALID_FLAG: 'Fix each line: it has the allowed values.',
  CONFIRMATION_NEEDED: 'To confirm, use `call --yes` or `verify --writes --yes`.',
  INVALID_TARGET: 'Fix the flag, variable or file in the message.',
  UNKNOWN_TARGET: 'List all targets with `target list`, or add one with `target set`.',
  TARGET_NOT_SET: 'Set it: `petstore-sandbox target set <name> --base-url <url>`.',
  INVALID_CONFIG: 'Fix the line in the message.',
  CANNOT_WRITE: 'Check the path, its permissions and the free space.',
  NO_RESPONSE:
    'Start a sandbox with `petstore-sandbox serve`, or check the address, the certificate and `call --timeout`.',
  NOT_CHECKED: 'Read the report: it has the reason for each operation that was not checked.',
  NO_SANDBOX: 'Start one with `petstore-sandbox serve`, or pass an address: `control --url`, `PETSTORE_SANDBOX_URL`.',
  STILL_RUNNING: 'Kill the process with SIGKILL. It keeps acknowledged writes.',
  NOT_EXECUTABLE: 'Make the file executable.',
  NO_SUCH_COMMAND: 'Check spelling and `PATH`. Put flags of `exec` before the command.',
  INTERNAL: 'Run the command with `--debug`, and report the output.',
}

/** @param code of a failure or a problem, in any case; one that both have is of a problem in small letters */
export function fixOfCode(code: string): string | undefined {
  const [failure, problem] = [code.toUpperCase(), code.toLowerCase()]
  const isProblem = Object.hasOwn(PROBLEM_FIXES, problem)
  if (Object.hasOwn(FAILURE_FIXES, failure) && !(isProblem && code === problem))
    return FAILURE_FIXES[failure as FailureCode]
  return isProblem ? PROBLEM_FIXES[problem as ProblemCode].fix : undefined
}

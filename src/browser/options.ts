import type { SandboxOptions } from '../options/options.js'

const DISK = 'needs a disk'
const PORT = 'needs a port'
const PRISM = 'needs Prism'
const SERVICE = 'needs a real service behind the sandbox'

export const MISSING = {
  port: PORT,
  host: PORT,
  controlToken: PORT,
  controlOrigin: PORT,
  store: DISK,
  inMemory: DISK,
  fixtures: DISK,
  reset: DISK,
  fsync: DISK,
  generate: 'needs a contract of your own',
  handlers: 'needs a disk; use sandbox.handle()',
  mock: PRISM,
  redis: 'needs Redis',
  group: 'needs Redis',
  upstream: SERVICE,
  upstreamApiKeyFile: SERVICE,
  upstreamWrites: SERVICE,
  upstreamTimeout: SERVICE,
  log: 'needs a terminal',
} as const satisfies Partial<Record<keyof SandboxOptions, string>>

export type MissingOption = keyof typeof MISSING

/** The options of a sandbox in a browser: all that need no disk, port, Prism, Redis or terminal. */
export interface BrowserOptions extends Omit<SandboxOptions, MissingOption | 'spec'> {
  /** An OpenAPI document, or its text as YAML or JSON; default: the packaged contract. Loads more code. */
  readonly spec?: object | string
  /** With `spec`: records to generate, such as `users=20`. */
  readonly generate?: string | readonly string[]
  /** Bytes returned by `save()`, to continue from. Pass the same other options. */
  readonly restore?: Uint8Array
}

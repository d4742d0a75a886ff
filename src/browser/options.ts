import type { SandboxOptions } from '../options/options.js'

const DISK = 'needs a disk'
const PORT = 'needs a port'
const PRISM = 'needs Prism'
const SPEC = 'needs a contract of your own'
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
  generate: SPEC,
  handlers: 'needs a disk; use sandbox.handle()',
  spec: PRISM,
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
export interface BrowserOptions extends Omit<SandboxOptions, MissingOption> {
  /** Bytes returned by `save()`, to continue from. Pass the same other options. */
  readonly restore?: Uint8Array
}

import type { KeyKind, SandboxControls } from './controls.js'

/** A sandbox in this process that listens on a port. */
export interface Sandbox extends SandboxControls, AsyncDisposable {
  /** `http://127.0.0.1:51234/v1` */
  readonly baseUrl: string
  /** `http://127.0.0.1:51234/__sandbox` */
  readonly controlUrl: string
  /** A fixture key: `key('pro')` is `sandbox-pro`. */
  key(kind?: KeyKind): string
  /** Resolves when the port is free and everything is written. */
  close(): Promise<void>
}

/** A sandbox in this process without a socket. */
export interface SocketlessSandbox extends SandboxControls, AsyncDisposable {
  /** The address that its `fetch` answers for. There is no server. */
  readonly baseUrl: string
  readonly controlUrl: string
  key(kind?: KeyKind): string
  /** Like the global `fetch`, but it reaches only this sandbox. */
  fetch(input: string | URL | Request, init?: RequestInit): Promise<Response>
  close(): Promise<void>
}

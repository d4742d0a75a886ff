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

/** What `sandbox.fetch` may be told beside what any `fetch` is. */
export interface SandboxRequestInit extends RequestInit {
  /**
   * The request is passed on for somebody else, such as a page behind Playwright's `page.route`, who hears of the answer
   * later than the caller does. Conduct then takes it as heard after 250 ms.
   */
  readonly relayed?: boolean
}

/** A sandbox in this process without a socket. */
export interface SocketlessSandbox extends SandboxControls, AsyncDisposable {
  /** The address that its `fetch` answers for. There is no server. */
  readonly baseUrl: string
  readonly controlUrl: string
  key(kind?: KeyKind): string
  /** Like the global `fetch`, but it reaches only this sandbox. */
  fetch(input: string | URL | Request, init?: SandboxRequestInit): Promise<Response>
  close(): Promise<void>
}

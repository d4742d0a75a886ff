import { chromium, type Page } from 'playwright-core'
import { inject } from 'vitest'
import type { SandboxOptions } from '../../../src/options/options.js'
import type { Asked, Told } from './sandboxes.js'

let page: Promise<Page> | undefined

/** Opens a page for the sandboxes of a worker's tests. */
export function openPage(): Promise<Page> {
  page ??= newPage()
  return page
}

async function newPage(): Promise<Page> {
  const { endpoint, script } = inject('chromium')
  const browser = await chromium.connect(endpoint)
  const opened = await browser.newPage()
  await opened.addScriptTag({ path: script })
  return opened
}

let calls = 0

/** A sandbox in a page of Chromium. */
export interface SandboxInPage {
  service(request: Request): Promise<Response>
  control(request: Request): Promise<Response>
  close(): Promise<void>
}

/** @param warned receives the sandbox's warnings */
export async function openInChromium(
  options: SandboxOptions,
  warned: (warning: string) => void,
): Promise<SandboxInPage> {
  const page = await openPage()
  const opened = await page.evaluate((given) => globalThis.sandboxes.open(given), options)
  if (!('id' in opened)) throw Object.assign(new Error(opened.message), { code: opened.code })
  const { id } = opened
  opened.warnings.forEach(warned)
  let waiting: Asked[] = []
  let sent = Promise.resolve()

  /** Sends the requests of one turn of the event loop in parallel. */
  function send(asked: Asked): Promise<void> {
    if (waiting.push(asked) === 1) {
      sent = new Promise(setImmediate).then(() => {
        const all = waiting
        waiting = []
        return page.evaluate(([to, list]) => globalThis.sandboxes.ask(to, list), [id, all] as const)
      })
    }
    return sent
  }

  async function ask(request: Request, isControl: boolean): Promise<Response> {
    const { method, url, headers, signal } = request
    signal.throwIfAborted()
    const call = ++calls
    const body = request.body === null ? undefined : await request.text()
    const leave = () => void page.evaluate((which) => globalThis.sandboxes.leave(which), call)
    await send({ call, isControl, method, url, headers: [...headers], body })
    if (signal.aborted) leave()
    else signal.addEventListener('abort', leave, { once: true })
    const [told, warnings] = await page.evaluate(([of, which]) => globalThis.sandboxes.answer(of, which), [
      id,
      call,
    ] as const)
    signal.removeEventListener('abort', leave)
    for (const warning of warnings) warned(warning)
    signal.throwIfAborted()
    if (told === undefined) throw new Error(`The page has no call ${call}.`)
    return responseOf(told)
  }

  return {
    service: (request) => ask(request, false),
    control: (request) => ask(request, true),
    close: () => page.evaluate((which) => globalThis.sandboxes.close(which), id),
  }
}

function responseOf(told: Told): Response {
  if ('failed' in told) throw new TypeError('fetch failed', { cause: told.failed })
  const { status, headers, text, broken } = told
  const init = { status, headers: headers.map(([name, value]): [string, string] => [name, value]) }
  if (broken === undefined) return new Response(text === '' ? null : text, init)
  const body = new ReadableStream({
    start(controller) {
      controller.enqueue(new TextEncoder().encode(text))
    },
    pull(controller) {
      controller.error(new TypeError(broken))
    },
  })
  return new Response(body, init)
}

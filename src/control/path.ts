export const CONTROL_PATH = '/__sandbox'
export const DASHBOARD_PATH = `${CONTROL_PATH}/`

/** Also of a target in absolute form. @source RFC 9112, section 3.2.2 */
const IS_CONTROL = new RegExp(`^(?:https?://[^/?#]*)?${CONTROL_PATH}(?:[/?]|$)`, 'i')

export function isControl(target: string): boolean {
  return IS_CONTROL.test(target)
}

/** A proxy may mount the control plane below another path. */
const UP_TO_CONTROL = new RegExp(`^.*${CONTROL_PATH}(?=/|$)`)

/**
 * Derives the control plane's address, `http://127.0.0.1:4010/__sandbox`, from any address of a sandbox. In a page, a
 * path is relative to the page's server.
 * @returns undefined unless it is an http or https address without credentials, query and fragment
 */
export function readControlUrl(text: string): string | undefined {
  const { href }: { readonly href?: string } = Object(Reflect.get(globalThis, 'location'))
  if (!URL.canParse(text, href)) return undefined
  const { protocol, origin, username, password, pathname, search, hash } = new URL(text, href)
  if (!/^https?:$/.test(protocol) || username + password + search + hash !== '') return undefined
  return origin + (UP_TO_CONTROL.exec(pathname)?.[0] ?? CONTROL_PATH)
}

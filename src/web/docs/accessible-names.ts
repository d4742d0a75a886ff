/**
 * Controls that Swagger UI leaves unnamed, and their names. A name stays on an element
 * through Swagger UI's own updates, since its React knows nothing of it.
 */
const NAMES: readonly {
  readonly selector: string
  readonly name: (element: Element) => string
  readonly role?: string
}[] = [
  { selector: '.information-container', name: () => 'About the service', role: 'region' },
  { selector: '.scheme-container', name: () => 'Server and key', role: 'region' },
  { selector: '.responses-table[role=region]', name: (table) => `Documented answers of ${operationOf(table)}` },
  { selector: '.examples-select-element', name: () => 'Example' },
  { selector: '[data-param-name] select:not(.examples-select-element)', name: (control) => parameterOf(control) },
  { selector: '[data-param-name] :is(input, textarea)', name: (control) => parameterOf(control) },
  { selector: '.opblock-section-request-body .body-param-content-type select', name: () => 'Content type of the body' },
  { selector: '.body-param textarea', name: () => 'Body' },
]
/** Scrollable parts, which must be reachable by keyboard. */
const SCROLLS = 'pre.microlight, .highlight-code pre'

/** Names the controls of Swagger UI, now and whenever it changes the page. */
export function nameControls(root: Element): void {
  const name = () => {
    for (const { selector, name: nameOf, role } of NAMES) {
      for (const element of root.querySelectorAll(selector)) {
        if (!element.hasAttribute('aria-label')) element.setAttribute('aria-label', nameOf(element))
        if (role !== undefined) element.setAttribute('role', role)
      }
    }
    for (const block of root.querySelectorAll(SCROLLS)) block.setAttribute('tabindex', '0')
  }
  new MutationObserver(name).observe(root, { childList: true, subtree: true })
  name()
}

function operationOf(element: Element): string {
  const block = element.closest('.opblock')
  const method = block?.querySelector('.opblock-summary-method')?.textContent
  const path = block?.querySelector('[data-path]')?.getAttribute('data-path')
  return `${method} ${path}`
}

function parameterOf(element: Element): string {
  return element.closest('[data-param-name]')?.getAttribute('data-param-name') ?? ''
}

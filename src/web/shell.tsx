import { type ComponentChild, type ComponentChildren, render } from 'preact'
import { CONTROL_ADDRESS } from './control-api.js'

type PageName = 'Dashboard' | 'API docs'

/** The header of all pages: name, links to the others, and what belongs to the page. @param space of the links */
export function Shell({
  page,
  space,
  children,
}: {
  readonly page: PageName
  readonly space: string
  readonly children?: ComponentChildren
}) {
  const query = new URLSearchParams(space === '' ? {} : { space })
  const pages: readonly (readonly [name: PageName, address: string])[] = [
    ['Dashboard', `${CONTROL_ADDRESS}/${space === '' ? '' : `#${query}`}`],
    ['API docs', `${CONTROL_ADDRESS}/docs${space === '' ? '' : `?${query}`}`],
  ]
  return (
    <header class="top row">
      <b class="row">
        <img src="assets/icon.svg" alt="" width="22" height="22" />
        petstore-sandbox
      </b>
      <nav aria-label="Pages" class="row">
        {pages.map(([name, address]) => (
          <a key={name} href={address} aria-current={name === page ? 'page' : undefined}>
            {name}
          </a>
        ))}
      </nav>
      {children}
    </header>
  )
}

export function show(page: ComponentChild): void {
  const root = document.querySelector('#page')
  if (root !== null) render(page, root)
}

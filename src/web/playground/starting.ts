import { startWorker } from './start-worker.js'

// The web host serves this in place of a page of the sandbox, before the sandbox runs in this browser.

const place = document.querySelector('#starting')
startWorker().then(
  // The web host adds a trailing slash; the sandbox's own page has none.
  () => {
    const path = location.pathname.replace(/\/docs\/$/, '/docs')
    if (path === location.pathname) location.reload()
    else location.replace(path + location.search + location.hash)
  },
  (error: Error) => {
    if (place !== null) place.textContent = error.message
  },
)

import { startWorker } from './start-worker.js'

// Served by the web host in place of a page, before the sandbox runs in this browser.

const place = document.querySelector('#starting')
startWorker().then(
  // Removes the trailing slash, which the web host adds.
  () => {
    const path = location.pathname.replace(/\/docs\/$/, '/docs')
    if (path === location.pathname) location.reload()
    else location.replace(path + location.search + location.hash)
  },
  (error: Error) => {
    if (place !== null) place.textContent = error.message
  },
)

import { startWorker } from './start-worker.js'

// A page of the sandbox was opened before there was one in this browser: the web host has sent this in its place.

const place = document.querySelector('#starting')
startWorker().then(
  // The slash at its end is the web host's; the sandbox's own page has none.
  () => {
    const path = location.pathname.replace(/\/docs\/$/, '/docs')
    if (path === location.pathname) location.reload()
    else location.replace(path + location.search + location.hash)
  },
  (error: Error) => {
    if (place !== null) place.textContent = error.message
  },
)

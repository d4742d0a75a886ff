import { launchOptions } from './chromium'

const sandboxUrl = `http://127.0.0.1:${process.env.PETSTORE_SANDBOX_PORT}`
const serve =
  'npx petstore-sandbox serve --in-memory --spec booking.json --generate rooms=2 --generate bookings=5 --seed 1'

export default {
  testDir: 'e2e',
  use: { sandboxUrl, baseURL: process.env.SHOP, launchOptions },
  webServer: [
    { command: serve, url: `${sandboxUrl}/__sandbox/health` },
    { command: 'npx vite', url: process.env.SHOP, env: { VITE_API_URL: sandboxUrl } },
  ],
}

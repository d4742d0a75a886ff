import { launchOptions } from './chromium'

/** The application alone: its service has an address that nobody answers. */
export default {
  testDir: 'tests',
  workers: 1,
  webServer: { command: 'npx vite', url: process.env.SHOP, env: { VITE_API_URL: 'https://api.example.com/v1' } },
  use: { baseURL: process.env.SHOP, launchOptions, sandboxService: 'https://api.example.com/v1' },
}

import config from './playwright.config'

/** The configuration that is printed, with a browser that is there already. */
export default {
  ...config,
  testDir: 'e2e',
  fullyParallel: true,
  workers: 2,
  use: {
    baseURL: process.env.SHOP,
    launchOptions: {
      executablePath: process.env.CHROMIUM,
      args: [
        '--no-sandbox',
        '--disable-gpu',
        '--disable-quic',
        '--no-first-run',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
      ],
    },
  },
}

import { launchOptions } from './chromium'
import config from './playwright.config'

/** The configuration that is printed, with a browser that is there already. */
export default {
  ...config,
  testDir: 'e2e',
  fullyParallel: true,
  workers: 2,
  use: { ...config.use, baseURL: process.env.SHOP, launchOptions },
}

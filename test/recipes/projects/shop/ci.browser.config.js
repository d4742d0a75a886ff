import { playwright } from '@vitest/browser-playwright'
import { launchOptions } from './chromium.js'
import config from './vitest.browser.config.ts'

/** The configuration that is printed, with a browser that is there already; the recipe sets the time limit of a test. */
export default {
  ...config,
  test: {
    ...config.test,
    expect: { poll: { timeout: 60_000 } },
    browser: {
      ...config.test.browser,
      provider: playwright({ launchOptions }),
      api: { port: Number(process.env.VITE_PORT), strictPort: true },
    },
  },
}

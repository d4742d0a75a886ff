import { expect, it } from 'vitest'
import { PATIENCE_MS } from '../support/patience.js'
import { follow } from './project.js'

it('in Vitest’s browser mode a component runs under all conditions of a sandbox in its page, and a test controls one elsewhere', async () => {
  const { run, shop } = await follow('browser', 'shop')
  const vitest = run(
    `npx petstore-sandbox exec --control-origin ${shop} --fail-on violation \
       --env VITE_API_URL={baseUrl} --env VITE_CONTROL_URL={controlUrl} \
       -- npx vitest run --testTimeout ${PATIENCE_MS} --config ci.browser.config.js`,
  )
  expect(await vitest.code, vitest.said()).toBe(0)
  expect(vitest.said()).toMatch(/Test Files {2}3 passed \(3\)/)
  expect(vitest.said()).toMatch(/Tests {2}4 passed \(4\)/)
  expect(vitest.said()).toMatch(/conduct: no violations/)
})

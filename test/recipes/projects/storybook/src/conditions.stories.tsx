import { expect } from 'storybook/test'
import { sandbox } from '../.storybook/sandbox'
import { EXPECTED_CONDITIONS, tryConditions } from './conditions'

export default { render: () => <p>All conditions</p> }

export const Every = {
  async play() {
    expect(await tryConditions(sandbox)).toEqual(EXPECTED_CONDITIONS)
  },
}

import { expect } from 'storybook/test'
import { sandbox } from '../.storybook/sandbox'
import { EVERY_WEATHER, everyWeather } from './weather'

export default { render: () => <p>Every weather</p> }

export const Every = {
  async play() {
    expect(await everyWeather(sandbox)).toEqual(EVERY_WEATHER)
  },
}

import { OPTIONAL_SETTINGS } from '../../domain/settings.js'
import { changeSettings, settingsSchema } from '../../options/settings.js'
import { settingsView } from '../../options/settings-view.js'
import { listed } from '../../options/values/reading.js'
import { verb } from '../verb.js'

export const show = verb({
  method: 'GET',
  path: '/settings',
  summary: 'The settings of a space',
  run: ({ world }) => settingsView(world.settings),
})

export const change = verb({
  method: 'PATCH',
  path: '/settings',
  summary: `Turns switches of a space; null takes ${listed(OPTIONAL_SETTINGS)} away`,
  input: settingsSchema,
  run({ world }, settings) {
    world.settings = changeSettings(world.settings, settings)
    return settingsView(world.settings)
  },
})

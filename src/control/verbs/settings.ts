import { OPTIONAL_SETTINGS } from '../../domain/settings.js'
import { changeSettings, settingsSchema } from '../../options/settings.js'
import { settingsView } from '../../options/settings-view.js'
import { joinOr } from '../../options/values/reading.js'
import { verb } from '../verb.js'

export const show = verb({
  method: 'GET',
  path: '/settings',
  summary: 'The settings of a space',
  run: ({ space }) => settingsView(space.settings),
})

export const change = verb({
  method: 'PATCH',
  path: '/settings',
  summary: `Turns switches of a space; null takes ${joinOr(OPTIONAL_SETTINGS)} away`,
  input: settingsSchema,
  run({ space }, settings) {
    space.changeSettings(changeSettings(space.settings, settings))
    return settingsView(space.settings)
  },
})

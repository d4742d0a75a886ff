import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { DEFAULT_SETTINGS } from '../../src/domain/settings.js'
import { changeSettings, settingsSchema, settingsView } from '../../src/options/settings.js'

describe('settings', () => {
  it('change in the words of the flags, and the rest stays', () => {
    const change = v.parse(settingsSchema, { plan: 'pro', limits: '5/min', latency: '1ms..2ms', banAfter: 'never' })
    const changed = { plan: 'pro', limits: { perMinute: 5 }, latency: { min: 1, max: 2 }, banAfter: 'never' }
    expect(changeSettings(DEFAULT_SETTINGS, change)).toEqual({ ...DEFAULT_SETTINGS, ...changed })
  })

  it.each([
    { latency: null, limits: null },
    { latency: 'off', limits: null },
  ])('lose latency and limits by %j', (none) => {
    const changed = changeSettings(DEFAULT_SETTINGS, { latency: { min: 1, max: 1 }, limits: { perDay: 1 } })
    expect(changeSettings(changed, v.parse(settingsSchema, none))).toEqual(DEFAULT_SETTINGS)
  })

  it('can be sent back as they were shown', () => {
    const change = { limits: { perMinute: 5, perDay: 6 }, latency: { min: 5, max: 9 } }
    const settings = changeSettings(DEFAULT_SETTINGS, change)
    expect(changeSettings(DEFAULT_SETTINGS, v.parse(settingsSchema, settingsView(settings)))).toEqual(settings)
    expect(changeSettings(settings, v.parse(settingsSchema, settingsView(DEFAULT_SETTINGS)))).toEqual(DEFAULT_SETTINGS)
  })

  it.each([{ plan: 'a b' }, { port: 1 }, { banAfter: 0 }, { banDuration: '0s' }, { banDuration: '9000h' }, 5])(
    'refuse %j',
    (input) => expect(v.safeParse(settingsSchema, input).success).toBe(false),
  )
})

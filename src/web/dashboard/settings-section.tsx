import { PLAN_NAMES } from '../../domain/keys.js'
import { BAN_STATUSES, LIMIT_BODIES, RETRY_AFTER_FORMS, SUNSET_STATUSES } from '../../domain/settings.js'
import { SUNSET_MODES } from '../../domain/sunset.js'
import type { SettingsView } from '../../options/settings-view.js'
import { ChoiceField, SwitchField, TextField } from './controls.js'
import { Section } from './section.js'
import { useDashboard, useSession } from './session-context.js'

/** The switches that are settings, by what they are about. */
export function SettingsSections() {
  const settings = useDashboard(({ state }) => state?.settings)
  if (settings === undefined) return null
  return (
    <>
      <LimitSettings {...settings} />
      <BanSettings {...settings} />
      <AnswerSettings {...settings} />
    </>
  )
}

function LimitSettings({ plan, limits, rateLimit, retryAfter, limitBody }: SettingsView) {
  const save = useSave()
  return (
    <Section id="limits" title="Limits" aside={rateLimit ? `sandbox: ${limits ?? plan}` : 'off'}>
      <div class="fields">
        <ChoiceField label="Plan of sandbox" value={plan} choices={PLAN_NAMES} save={(plan) => save({ plan })} />
        <TextField
          label="Limits of sandbox"
          value={limits ?? ''}
          hint="the plan's own"
          save={(text) => save({ limits: text.trim() === '' ? null : text })}
        />
        <ChoiceField
          label="Retry-After"
          value={retryAfter}
          choices={RETRY_AFTER_FORMS}
          save={(retryAfter) => save({ retryAfter })}
        />
        <ChoiceField
          label="Body of a 429"
          value={limitBody}
          choices={LIMIT_BODIES}
          save={(limitBody) => save({ limitBody })}
        />
        <SwitchField label="Rate limits are on" value={rateLimit} save={(rateLimit) => save({ rateLimit })} />
      </div>
    </Section>
  )
}

function BanSettings({ banAfter, banDuration, banStatus }: SettingsView) {
  const save = useSave()
  return (
    <Section id="bans" title="Bans" aside={banAfter === 'never' ? 'never' : `after ${banAfter}, ${banDuration}`}>
      <div class="fields">
        <TextField
          label="After early requests"
          value={String(banAfter)}
          hint="a number, or never"
          save={(text) => save({ banAfter: /^\d+$/.test(text.trim()) ? Number(text) : text.trim() })}
        />
        <TextField label="Lasts" value={banDuration} save={(banDuration) => save({ banDuration })} />
        <ChoiceField
          label="Answers"
          value={banStatus}
          choices={BAN_STATUSES}
          save={(banStatus) => save({ banStatus })}
        />
      </div>
    </Section>
  )
}

function AnswerSettings({ latency, sunset, sunsetStatus }: SettingsView) {
  const save = useSave()
  return (
    <Section id="answers" title="Latency and sunset" aside={`${latency ?? 'no latency'}, ${sunset}`}>
      <div class="fields">
        <TextField
          label="Latency"
          value={latency ?? ''}
          hint="none; 50ms..200ms"
          save={(text) => save({ latency: text.trim() === '' ? null : text })}
        />
        <ChoiceField label="Sunset" value={sunset} choices={SUNSET_MODES} save={(sunset) => save({ sunset })} />
        <ChoiceField
          label="Removed answers"
          value={sunsetStatus}
          choices={SUNSET_STATUSES}
          save={(sunsetStatus) => save({ sunsetStatus })}
        />
      </div>
    </Section>
  )
}

function useSave(): (change: object) => Promise<unknown> {
  const session = useSession()
  return (change) => session.steer('settings.change', change, `Changed: ${Object.keys(change).join()}.`)
}

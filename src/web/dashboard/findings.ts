import type { Conduct, Finding } from '../../conduct/conduct-view.js'
import { productOf } from '../../domain/user-agent.js'
import type { Exchange } from '../../exchanges/exchange-record.js'

export function allFindings(conduct: Conduct | undefined): readonly Finding[] {
  return [...(conduct?.violations ?? []), ...(conduct?.warnings ?? []), ...(conduct?.notes ?? [])]
}

/** The finding that an exchange belongs to, also beyond the first exchanges that it names. */
export function findingOf(exchange: Exchange, conduct: Conduct | undefined): Finding | undefined {
  const all = allFindings(conduct)
  return (
    all.find(({ exchanges }) => exchanges.includes(exchange.id)) ??
    all.find((finding) => hasIgnored(exchange, finding)) ??
    all.find(({ disobeyed }) => disobeyed?.exchange === exchange.id)
  )
}

/** Whether a finding counts a request because of the response that it ignored. Its rule may be a likely one since. */
export function hasIgnored({ disobeyed, key, sender = '', operation, path }: Exchange, finding: Finding): boolean {
  return (
    disobeyed !== undefined &&
    finding.rule.replace('-likely', '') === disobeyed.rule.replace('-likely', '') &&
    finding.key === key &&
    finding.sender === sender &&
    finding.operation === operation &&
    (operation !== null || finding.request.path === path)
  )
}

/** How often the client of an exchange occurs in a finding. */
export function countOf({ key, sender, countByClient, count }: Finding, sent: Exchange): number {
  if (sent.key !== key || (sent.sender ?? '') !== sender) return 0
  const product = productOf(sent.request.headers['user-agent'] ?? '')
  const named = Object.values(countByClient).reduce((sum, times) => sum + times, 0)
  return product === '' ? count - named : (countByClient[product] ?? 0)
}
